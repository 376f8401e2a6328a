"""Which failures are expected ones: their message is made for a person, and a traceback would only bury it.

All modules raise errors of their own classes for what can go wrong; together with what the system refuses
(OSError) these are expected. Anything else is a defect, and keeps its traceback.
"""

import builtins
from typing import Final

_OURS: Final = ("warehouse", "prompts", "rollouts", "assets", "pipeline")
_INFRASTRUCTURE: Final = ("warehouse.database.BusyError", "prompts.engines.vllm_process.ProcessLostError")
_PASSING: Final = (ConnectionError, TimeoutError, BlockingIOError, InterruptedError)


def is_expected(error_class: str) -> bool:
    """Is an error of this class, `module.Name` (or `Name` of a builtin), to be shown by its message alone?"""
    package, dot, _ = error_class.partition(".")
    if dot:
        return package in _OURS
    known = getattr(builtins, error_class, None)
    return isinstance(known, type) and issubclass(known, OSError)


def class_of(error: BaseException) -> str:
    """An error's class as `is_expected` takes it."""
    kind = type(error)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def is_infrastructure(error_class: str) -> bool:
    """Is an error of this class the machine's and not the work's, so that the same may go well another
    time? A store that another process keeps, a connection, a model's process that is gone; never a wrong
    input."""
    if error_class in _INFRASTRUCTURE:
        return True
    known = getattr(builtins, error_class, None)
    return isinstance(known, type) and issubclass(known, _PASSING)
