"""The one place where numba is asked to compile. The result is kept on disk (`__pycache__`), so that only the
first process after a change of the sources compiles.

numba notices a change of the file that a function is in, not of the files of the functions it calls. Its key
also holds what a function closes over, so every function is made to close over a digest of all the kernels'
sources: a change of one compiles all anew.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import CellType, FunctionType
from typing import Final, TypeVar, cast

import numba
import numpy as np

Function = TypeVar("Function", bound=Callable[..., object])

_SOURCES: Final = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
# state.py holds the records' layouts and the flags.
_DIGEST: Final = hashlib.sha256(
    b"".join(text for text in _SOURCES if b"@compiled" in text or b"np.dtype" in text)
).hexdigest()


def compiled(function: Function, signature: str | None = None) -> Function:
    """`function`, compiled at its first call with each kind of arguments; with a numba signature, at once and
    for these alone: what is called with many kinds of integers is then compiled once. Errors are numba's."""
    plain = cast(FunctionType, function)
    code = plain.__code__.replace(co_freevars=("source_digest",))
    keyed = FunctionType(code, plain.__globals__, plain.__name__, None, (CellType(_DIGEST),))
    keyed.__module__, keyed.__doc__, keyed.__qualname__ = plain.__module__, plain.__doc__, plain.__qualname__
    return cast(Function, numba.njit(signature, cache=True, error_model="numpy")(keyed))


def compiled_for(signature: str) -> Callable[[Function], Function]:
    """`compiled` with a signature, as a decorator."""
    return lambda function: compiled(function, signature)


@compiled_for("f8(i8, i8, i8, i8)")
def chance(seed: int, a: int, b: int, c: int) -> float:
    """A number in [0, 1) that depends on nothing but the four integers: all of the world's luck.

    No generator is kept, so that luck cannot depend on the order in which things are asked.
    """
    h = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
    for part in (a, b, c):
        h = (h ^ np.uint64(part)) + np.uint64(0x9E3779B97F4A7C15)
        h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        h = h ^ (h >> np.uint64(31))
    return float(h >> np.uint64(11)) * (1.0 / 9007199254740992.0)
