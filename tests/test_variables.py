"""Environment variables that can change speed are recorded, what could name a machine or person in them is not."""

import factory
import msgspec
import pytest

from suite.driver import probing
from suite.driver.request import Request
from suite.processes import children
from suite.results.records.machine import differing
from suite.results.single.summary import summary
from suite.sessions import bench
from suite.system.variables import settings, spoiling

RECORDED = {
    "CUDA_LAUNCH_BLOCKING": "1",
    "CUDA_DEVICE_MAX_CONNECTIONS": "1",
    "CUDA_MODULE_LOADING": "EAGER",
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "50",
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    "KMP_AFFINITY": "granularity=fine,compact,1,0",
    "KMP_BLOCKTIME": "0",
    "GOMP_SPINCOUNT": "0",
    "GOMP_CPU_AFFINITY": "0-3",
    "OMP_PROC_BIND": "close",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMEXPR_MAX_THREADS": "2",
    "MKL_NUM_THREADS": "2",
    "DNNL_MAX_CPU_ISA": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "TORCHINDUCTOR_MAX_AUTOTUNE": "1",
    "TORCH_NUM_THREADS": "1",
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True,max_split_size_mb:128",
    "PYTORCH_ALLOC_CONF": "backend:cudaMallocAsync",
    "NCCL_P2P_DISABLE": "1",
    "NCCL_SOCKET_IFNAME": "eth0",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "MALLOC_ARENA_MAX": "1",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "ATEN_CPU_CAPABILITY": "default",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F",
    "OPENCV_FOR_THREADS_NUM": "1",
    "PYTHONOPTIMIZE": "2",
    "PYTHONMALLOC": "debug",
    "PYTHON_GIL": "0",
    "PYTHON_JIT": "1",
    "PYTHON_CPU_COUNT": "2",
    "JAX_ENABLE_X64": "1",
    "XLA_FLAGS": "--xla_force_host_platform_device_count=4 --xla_gpu_autotune_level=0",
    "XLA_PYTHON_CLIENT_MEM_FRACTION": ".5",
}


@pytest.mark.parametrize("name", RECORDED)
def test_what_can_change_speed_is_recorded_and_a_difference_is_seen(name):
    found = settings({name: RECORDED[name]})
    assert found == {name: RECORDED[name]}
    if name != "CUDA_DEVICE_ORDER":
        assert differing(found, {}) == (name,)


OTHERS = "SECRET PATH PYTHONPATH PYTHONUNBUFFERED PYTHONSAFEPATH CUDA_HOME CUDA_VERSION TORCH_HOME LD_LIBRARY_PATH"
FOLDERS = "TF_CLI_CONFIG_FILE TF_VAR_db TF_LOG KERAS_HOME "
FOLDERS += "TORCHINDUCTOR_CACHE_DIR TRITON_CACHE_DIR TF_CPP_MIN_LOG_LEVEL NVIDIA_VISIBLE_DEVICES"


@pytest.mark.parametrize("name", [*OTHERS.split(), *FOLDERS.split()])
def test_what_says_nothing_of_speed_stays_here(name):
    assert settings({name: "1"}) == {}


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_what_the_suite_itself_sets_is_no_other_than_before(monkeypatch, backend):
    """Else no record would compare with an older one."""
    for name in settings():
        monkeypatch.delenv(name)
    mine = {"JAX_PLATFORMS", "JAX_ENABLE_COMPILATION_CACHE", "KERAS_BACKEND", "CUDA_VISIBLE_DEVICES"}
    mine |= {"XLA_PYTHON_CLIENT_USE_TFRT_GPU_CLIENT"}
    assert settings(children.environment(backend)).keys() <= mine


FLAGS = "--xla_dump_to={place} --xla_gpu_autotune_level={level} --xla_dump_hlo_as_text"


def test_of_flags_the_private_value_alone_is_hidden():
    found = settings({"XLA_FLAGS": FLAGS.format(place="/home/someone/dump", level=0)})
    assert found["XLA_FLAGS"] == "--xla_dump_to=set --xla_gpu_autotune_level=0 --xla_dump_hlo_as_text"


def test_another_flag_beside_a_private_one_is_a_difference():
    one, other, moved = (
        settings({"XLA_FLAGS": FLAGS.format(place=place, level=level)})
        for place, level in (("/home/someone", 0), ("/home/someone", 4), ("dump", 0))
    )
    assert differing(one, other) == ("XLA_FLAGS",)
    assert differing(one, moved) == ()


def test_flags_in_a_file_are_recorded_as_flags(tmp_path):
    """As XLA takes them where the variable does not begin with a dash."""
    file = tmp_path / "flags"
    file.write_text("--xla_gpu_autotune_level=0\n--xla_dump_to=/home/someone\n")
    assert settings({"XLA_FLAGS": str(file)}) == {"XLA_FLAGS": "--xla_gpu_autotune_level=0 --xla_dump_to=set"}
    assert settings({"XLA_FLAGS": "/nowhere/flags"}) == {"XLA_FLAGS": "set"}


def test_preloaded_libraries_are_named_without_their_folders():
    found = settings({"LD_PRELOAD": "/usr/lib/libtcmalloc.so.4:/home/someone/lib/libjemalloc.so.2 libx.so"})
    assert found == {"LD_PRELOAD": "libtcmalloc.so.4 libjemalloc.so.2 libx.so"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("XLA_FLAGS", "--xla_dump_to=/home/someone"),
        ("XLA_FLAGS", "--xla_dump_to=someone"),
        ("XLA_FLAGS", "/home/someone"),
        ("XLA_FLAGS", "--xla_x=10.1.2.3:99"),
        ("XLA_FLAGS", "--xla_x=a,/home/someone,b"),
        ("TF_XLA_FLAGS", "--tf_xla_x=~/someone"),
        ("JAX_COMPILATION_CACHE_DIR", "/home/someone"),
        ("JAX_COORDINATOR_ADDRESS", "someone:99"),
        ("TF_CONFIG", '{"cluster": {"worker": ["someone:2222"]}}'),
        ("NCCL_COMM_ID", "someone:99"),
        ("NCCL_HOSTID", "someone"),
        ("NCCL_TOPO_FILE", "someone.xml"),
        ("TORCH_LOGS_OUT", "/home/someone/log"),
        ("CUDA_MPS_PIPE_DIRECTORY", "/tmp/someone"),
        ("CUDA_INJECTION64_PATH", "/opt/someone/libToolsInjection64.so"),
        ("MALLOC_CONF", "prof:true,prof_prefix:/home/someone/x"),
        ("LD_PRELOAD", "/home/someone/lib.so"),
        ("CUDA_VISIBLE_DEVICES", "GPU-1a2bsomeone"),
        ("CUDA_VISIBLE_DEVICES", "MIG-1a2bsomeone,1"),
    ],
)
def test_nothing_private_leaves_the_machine(name, value):
    assert "someone" not in settings({name: value})[name]


@pytest.mark.parametrize("name", ["XLA_FLAGS", "LD_PRELOAD", "TORCH_LOGS", "MALLOC_CONF"])
def test_neither_the_user_nor_the_host_is_named(name, monkeypatch):
    monkeypatch.setattr("suite.system.redact._names", lambda: (("someone", "<user>"), ("their-pc", "<host>")))
    for word in ("someone", "their-pc"):
        assert word not in settings({name: f"--x={word}"})[name]


def test_a_list_keeps_what_is_not_private():
    assert settings({"MALLOC_CONF": "prof:true,prof_prefix:/home/x"}) == {"MALLOC_CONF": "prof:true,prof_prefix:set"}


@pytest.mark.parametrize(
    ("backend", "value", "blocked"),
    [("gpu", "1", True), ("gpu", "0", False), ("gpu", None, False), ("cpu", "1", False)],
)
def test_a_time_of_a_gpu_whose_kernels_were_waited_for_is_not_steady(backend, value, blocked):
    software = factory.record().software
    software = msgspec.structs.replace(software, settings={} if value is None else {"CUDA_LAUNCH_BLOCKING": value})
    found = summary(msgspec.structs.replace(factory.record(backend=backend), software=software))
    assert any(reason.startswith("the host waited") for reason in found.reasons) == blocked
    assert found.steady is not blocked


@pytest.mark.parametrize("name", ["CUDA_LAUNCH_BLOCKING", "LD_PRELOAD", "PYTHONDEVMODE", "JAX_DEBUG_NANS"])
def test_what_spoils_times_is_noted_before_anything_is_measured(name, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(name, "1")

    def refuse(implementation):
        raise RuntimeError("asked")

    monkeypatch.setattr(probing, "offer", refuse)
    with pytest.raises(RuntimeError, match="asked"):
        bench.planned(Request(), tmp_path)
    assert f"note: {name} is '1': " in " ".join(capsys.readouterr().err.split())
    assert spoiling({name: "0"}) == spoiling({name: ""}) == spoiling({}) == {}
