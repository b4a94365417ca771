"""What to do about the reason for which a framework does not start, or does not start a GPU."""

import re

# Words of a reason, and the remedy; the first that fits counts. {0} is the first group.
_REMEDIES = (
    (r"Unknown flags? in (XLA_FLAGS): (.*)", "this jaxlib lacks {1}: take it out of {0}, or unset {0}"),
    (r"Could not open file (.*) to read flags for environment variable \"(\w+)\"", "unset {1}, or correct it"),
    (r"environment '(\w+)'", "unset {0}, or correct it"),
    (r"for JAX flag (jax_\w+)", "unset {0}, or correct it"),
    (r"driver version is insufficient|SYSTEM_DRIVER_MISMATCH|driver .*is too old", "update the GPU's driver"),
    (
        r"not compatible with the installed jaxlib|jaxlib version|incompatible with jax",
        "install JAX's packages in one version: pip install -U '{wheel}'",
    ),
    (r"RESOURCE_EXHAUSTED|OUT_OF_MEMORY|[Oo]ut of memory", "end the processes that hold the GPU's memory"),
    (r"DEVICE_UNAVAILABLE|EXCLUSIVE|busy or unavailable", "end the process that holds the GPU, or wait for it"),
    (r"NO_DEVICE|no CUDA-capable device", "set CUDA_VISIBLE_DEVICES to a GPU that nvidia-smi -L lists, or unset it"),
    (r"SYSTEM_NOT_READY", "start the service that joins the GPUs: systemctl start nvidia-fabricmanager"),
    (
        r"was built against|cannot open shared object|Unable to load|[Cc]u(DNN|dnn|BLAS|blas)|libcu\w+|GLIBC",
        "install it again, with its libraries: pip install -U --force-reinstall '{wheel}', and unset LD_LIBRARY_PATH "
        "if it names others",
    ),
    (r"without CUDA", "install a build with CUDA, or leave the GPU out of its cases"),
    (r"ulimit -t", "raise that limit, or remove it"),
    (r"can't start new thread|Resource temporarily|pthread_create", "allow more processes (ulimit -u, control group)"),
    (r"Too many open files", "allow more open files (ulimit -n)"),
    (r"MemoryError|Cannot allocate memory|failed to map|SIGKILL", "allow it more memory (ulimit -v, control group)"),
    (r"SIGILL|AVX", "take a machine whose processor has the instructions of this build"),
    (r"No module named", "install the suite: pip install ."),
)


def remedy(reason: str, wheel: str = "jax") -> str:
    """Return what to do about a reason, in the words of the framework; '' if they are unknown.

    `wheel` is what pip installs it by, with its extra.
    """
    for words, advice in _REMEDIES:
        if found := re.search(words, reason):
            named = [word.upper() if word.startswith("jax_") else word for word in found.groups("")]
            return advice.format(*named, wheel=wheel)
    return ""
