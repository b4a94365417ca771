"""What every test may use."""

import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))  # the factory of records
from cost import Cost

SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # such as a first import inside an example
settings.register_profile("suite", derandomize=True, **SLOW)  # so that a change is judged by what it changes
settings.register_profile("thorough", max_examples=1000, **SLOW)
settings.load_profile("suite")


def pytest_configure(config):
    config.pluginmanager.register(Cost(config))


def pytest_collection_modifyitems(items):
    """Put the longest tests first, so that all workers end together."""
    items.sort(key=lambda item: not item.path.name.startswith("test_trust"))


@pytest.fixture(scope="session", autouse=True)
def compiled(tmp_path_factory):
    """Keep what XLA compiled until the tests end: a network is compiled once for all tests of all their processes.

    What promotes a type of numbers or a rank unasked is an error.
    """
    if jax := sys.modules.get("jax"):  # which no test needs that has not imported it by now
        base = tmp_path_factory.getbasetemp()
        shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
        jax.config.update("jax_compilation_cache_dir", str(shared / "compiled"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)
        jax.config.update("jax_numpy_dtype_promotion", "strict")
        jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    """Replace the reference kernels in this process's campaigns: real ones take seconds of all cores."""
    if bench := sys.modules.get("suite.sessions.bench"):
        from suite.results.records.run import ReferenceKernel

        reached = ReferenceKernel(matmul_flop_per_second=1e11, copy_bytes_per_second=1e10, seconds=1.0)
        monkeypatch.setattr(bench, "host_speed", SimpleNamespace(measured=lambda: reached))


@pytest.fixture
def browser():
    """Chromium without a window; skips where Playwright or Chromium is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: nox -s browser")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()
