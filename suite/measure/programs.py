"""Which program measures a case. Each is imported where its case needs it alone: importing is timed."""

from suite import variants
from suite.measure.inputs import Owner
from suite.measure.program import Program
from suite.workload import Case


def of_this_host(case: Case) -> tuple[Program, Owner]:
    """Return this host's program for the case, and who makes its batches.

    Raises LookupError if the implementation lacks the case's variant.
    """
    variants.require(case)
    return {"jax": _jax, "torch": _torch, "keras": _keras, "xgboost": _xgboost}[case.implementation](case)


def _torch(case: Case) -> tuple[Program, Owner]:
    from suite import controls

    control = controls.load(case.workload)
    if case.scope == "serve":
        from suite.measure.torch_serving import TorchServing

        return TorchServing(control, case), control
    from suite.measure.torch_program import TorchProgram

    return TorchProgram(control, case), control


def _keras(case: Case) -> tuple[Program, Owner]:
    from suite import controls_keras
    from suite.measure.keras_program import KerasProgram

    control = controls_keras.load(case.workload)
    return KerasProgram(control, case), control


def _xgboost(case: Case) -> tuple[Program, Owner]:
    from suite import controls_xgboost
    from suite.measure.xgboost_program import XgboostProgram

    control = controls_xgboost.load(case.workload)
    return XgboostProgram(control, case), control


def _jax(case: Case) -> tuple[Program, Owner]:
    from suite import ceilings, models

    workload = (ceilings if case.workload in ceilings.names() else models).load(case.workload)
    if workload.growth is not None:
        from suite.measure.boosting_program import BoostingProgram as Kind
    elif case.scope == "run" and workload.description.grid is not None:
        from suite.measure.search import SearchRun as Kind
    elif case.scope == "run" and case.variant == "resident":
        from suite.measure.resident_run import ResidentRun as Kind
    elif case.scope == "run":
        from suite.measure.jax_run import JaxRun as Kind
    elif case.scope == "learning":
        from suite.measure.learning import LearningProgram as Kind
    elif case.scope == "serve":
        from suite.measure.jax_serving import JaxServing as Kind
    elif case.variant == "nnx-jit":
        from suite.measure.nnx_program import NnxProgram as Kind
    elif case.variant == "stacked":
        from suite.measure.stacked import StackedProgram as Kind
    else:
        from suite.measure.jax_program import JaxProgram as Kind
    return Kind(workload, case), workload
