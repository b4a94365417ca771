"""Faults of a resume: since the campaign began, software, settings, commit or code were changed."""

from functools import partial
from typing import Any

import msgspec

from suite.driver.journal import Journal
from trust import fake
from trust.bench import Bench, Outcome, fault, refused

_REFUSED = "one line that names what, then and now, exit 1; completed runs stay"
_PACKAGES = {"jax": "0", "jaxlib": "0", "flax": "0", "numpy": "0"}


def begun(place: Bench, *arguments: str, **variables: str) -> Journal:
    """Begin a campaign and terminate it after two runs; return its journal."""
    place.faked().offering(packages=_PACKAGES, python="3.12.1")
    place.env |= variables
    place.run(*(arguments or ("alpha", "beta")), planted=(("signal_after", 2, "SIGTERM"),))
    return place.journal()


def resumed(place: Bench, before: Journal, *words: str, planted: tuple[Any, ...] = ()) -> Outcome:
    """Return whether the campaign is not resumed, for a reason with these words, and loses nothing."""
    kept = before.path.read_bytes()
    good, found = refused(place.run("--resume", planted=planted), "cannot be resumed here", *words)
    return good and before.path.read_bytes() == kept and bool(before.done()), found


def upgraded(place: Bench, offer: dict[str, Any], words: str) -> Outcome:
    """Upgrade what the fake Python says that it has."""
    before = begun(place)
    place.offering(**offer)
    return resumed(place, before, "the software of 'jax' was changed since it began", words, "install the former")


for _what, _offer, _words in (
    ("Python", {"python": "3.13.0"}, "Python from 3.12.1 to 3.13.0"),
    ("jax", {"packages": _PACKAGES | {"jax": "1"}}, "jax from 0 to 1"),
    ("jaxlib alone", {"packages": _PACKAGES | {"jaxlib": "1"}}, "jaxlib from 0 to 1"),
    ("a GPU's wheel, new", {"packages": _PACKAGES | {"nvidia-cudnn-cu13": "9"}}, "nvidia-cudnn-cu13 from none to 9"),
    ("numpy, uninstalled", {"packages": {"jax": "0", "jaxlib": "0", "flax": "0"}}, "numpy from 0 to none"),
):
    fault(f"an upgrade before --resume: {_what}", _REFUSED, "the versions in the plan")(
        partial(upgraded, offer=_offer, words=_words)
    )


@fault("an upgrade before --resume: a baseline's package", _REFUSED, "the versions in the plan")
def _(place: Bench) -> Outcome:
    torch = Bench(place.folder / "torch").faked()
    torch.offering(implementation="torch", packages={"torch": "1"}, workloads=[])
    variables = {"SUITE_TORCH_PYTHON": torch.env["SUITE_JAX_PYTHON"]}
    before = begun(place, "alpha", "--implementation", "jax,torch", **variables)
    torch.offering(packages={"torch": "2"})
    return resumed(place, before, "the software of 'torch' was changed since it began, torch from 1 to 2")


def meanwhile(place: Bench, asked: tuple[str, ...]) -> Outcome:
    """Upgrade JAX after two processes of a campaign."""
    place.faked().working('[ "$count" -gt 2 ] && sed -i \'s/"jax": "0"/"jax": "1"/\' "$(dirname "$0")/fake.py"')
    ran = place.ran("run", "--out", str(place.out), *asked, planted=(("brief",),))
    done = place.journal().done()
    told = {entry.software.packages["jax"] for entry in done if not entry.run.reason}
    good = ran.code == 1 and "jax from 0 to 1" in ran.said and "Traceback" not in ran.said
    return good and told == {"0"}, f"exit {ran.code}; {len(done)} runs stay, of jax {told}; {ran.said[-300:]}"


for _what, _asked in (
    ("two rounds of a workload", ("alpha", "--profile", "quick", "--rounds", "2")),
    ("two workloads", (*fake.NAMES, "--profile", "smoke")),
):
    fault(f"an upgrade between {_what} of a campaign", "one line with what changed, exit 1; completed runs stay",
          "the versions that each worker tells")(partial(meanwhile, asked=_asked))  # fmt: skip


def changed(place: Bench, name: str, then: str, now: str, words: str) -> Outcome:
    """Begin with one value of a variable and resume with another."""
    before = begun(place, **{name: then})
    place.env[name] = now
    return resumed(place, before, words)


_FLAGS = "--xla_dump_to=/home/{} --xla_gpu_autotune_level={}"
for _what, _name, _then, _now, _words in (
    ("another commit", "SUITE_COMMIT", "abc", "abd", "commit 'abc' then, 'abd' now"),
    ("another count of threads", "OMP_NUM_THREADS", "1", "2", "setting OMP_NUM_THREADS '1' then, '2' now"),
    ("another way to launch kernels", "CUDA_LAUNCH_BLOCKING", "0", "1", "setting CUDA_LAUNCH_BLOCKING '0' then"),
    ("another allocator of PyTorch", "PYTORCH_CUDA_ALLOC_CONF", "backend:native", "backend:cudaMallocAsync",
     "setting PYTORCH_CUDA_ALLOC_CONF 'backend:native' then"),
    ("another flag of XLA beside a private one", "XLA_FLAGS", _FLAGS.format("a", 0), _FLAGS.format("a", 4),
     "--xla_gpu_autotune_level=0' then"),
):  # fmt: skip
    fault(f"--resume with {_what}", _REFUSED, "the settings in the plan")(
        partial(changed, name=_name, then=_then, now=_now, words=_words)
    )


@fault("--resume with another private folder in XLA_FLAGS", "the result: it says nothing of speed",
       "the settings in the plan")  # fmt: skip
def _(place: Bench) -> Outcome:
    before = begun(place, XLA_FLAGS=_FLAGS.format("a", 0))
    place.env["XLA_FLAGS"] = _FLAGS.format("b", 0)
    count, ran = len(before.done()), place.run("--resume")
    good = ran.good and "/home/" not in before.path.read_text()
    return good and len(before.done()) > count, f"exit {ran.code}; {count} runs, then {len(before.done())}"


@fault("--resume with changed files under the same commit", _REFUSED, "the digest of the code")
def _(place: Bench) -> Outcome:
    return resumed(place, begun(place), "code of that commit", planted=(("code_changes", 0),))


@fault("--resume of a plan of an older version", _REFUSED, "the version in the plan")
def _(place: Bench) -> Outcome:
    before = begun(place)
    plan, done = before.header(), before.done()
    before.path.unlink()
    before.append(msgspec.structs.replace(plan, version=0))
    before.append(*done)
    kept = before.path.read_bytes()
    good, found = refused(place.run("--resume"), "was begun by another version of the suite")
    return good and before.path.read_bytes() == kept, found
