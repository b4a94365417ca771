"""Choose the program of a case. Each is imported only if its case needs it: importing is timed."""

from suite import variants
from suite.case import FRAMEWORK_DEFAULT, Case
from suite.worker_api.program import BatchSource, Profiler, Program


def of_this_host(case: Case) -> tuple[Program, BatchSource]:
    """Return this host's program for the case, and its batch source.

    Raises LookupError if the implementation lacks the case's variant.
    """
    variants.require(case)
    makers = {"jax": _jax, "torch": _torch, "keras": _keras, "xgboost": _xgboost, "openvino": _openvino}
    return makers[case.implementation](case)


def profiler(case: Case) -> Profiler:
    """Return the profiler of the case's implementation.

    Raises LookupError if the suite reads none.
    """
    if case.implementation != "jax":
        raise LookupError(f"scope 'kernels' asked for, no profiler of '{case.implementation}' is read; leave it out")
    from suite.programs.jax.profile import device_intervals

    return device_intervals


def _torch(case: Case) -> tuple[Program, BatchSource]:
    from suite import controls

    if case.scope == "serve":
        from suite.programs.torch_program import TorchServing as Kind
    elif case.scope == "written":
        from suite.programs.torch_loop import TorchLoop as Kind
    elif case.scope == "run":
        from suite.programs.torch_loop import TorchRun as Kind
    else:
        from suite.programs.torch_program import TorchProgram as Kind
    control = controls.load(case.workload)
    if case.precision == FRAMEWORK_DEFAULT:
        from suite.programs.torch_defaults import unchanged_tf32

        with unchanged_tf32():
            return Kind(control, case), control
    return Kind(control, case), control


def _keras(case: Case) -> tuple[Program, BatchSource]:
    from suite import controls_keras

    if case.scope == "written":
        from suite.programs.keras_loop import KerasLoop as Kind
    elif case.scope == "run":
        from suite.programs.keras_loop import KerasRun as Kind
    else:
        from suite.programs.keras_program import KerasProgram as Kind
    control = controls_keras.load(case.workload)
    return Kind(control, case), control


def _xgboost(case: Case) -> tuple[Program, BatchSource]:
    from suite import controls_xgboost
    from suite.programs.xgboost_program import XgboostProgram

    control = controls_xgboost.load(case.workload)
    return XgboostProgram(control, case), control


def _openvino(case: Case) -> tuple[Program, BatchSource]:
    from suite import controls
    from suite.programs.openvino_program import OpenvinoProgram, OpenvinoServing

    control = controls.load(case.workload)
    return (OpenvinoServing if case.scope == "serve" else OpenvinoProgram)(control, case), control


def _jax(case: Case) -> tuple[Program, BatchSource]:
    from suite import ceilings, models

    workload = (ceilings if case.workload in ceilings.names() else models).load(case.workload)
    if workload.growth is not None:
        from suite.programs.jax.boosting import BoostingProgram as Kind
    elif case.scope == "run" and workload.description.grid is not None:
        from suite.programs.jax.grid_search import SearchRun as Kind
    elif case.scope == "run" and case.variant == "resident":
        from suite.programs.jax.epochs import ResidentRun as Kind
    elif case.scope == "run":
        from suite.programs.jax.epochs import JaxRun as Kind
    elif case.scope == "learning":
        from suite.programs.jax.training import LearningProgram as Kind
    elif case.scope == "serve":
        from suite.programs.jax.serving import JaxServing as Kind
    elif case.variant == "resident-loop":
        from suite.programs.jax.resident_epoch import ResidentEpoch as Kind
    elif case.scope == "written":
        from suite.programs.jax.nnx_loop import NnxLoop as Kind
    elif case.variant == "nnx-jit":
        from suite.programs.jax.nnx_jit import NnxProgram as Kind
    elif case.variant == "stacked":
        from suite.programs.jax.stacked import StackedProgram as Kind
    else:
        from suite.programs.jax.program import JaxProgram as Kind
    return Kind(workload, case), workload
