"""How a write ends that does not end well: where it can be cut short, and what the system's refusals mean.

Every file below a data home is written by `warehouse.shards.replacing`, every change of the warehouse by
`warehouse.database.transaction`; both say where they are, and nobody listens but the tests that stop a writer
with something half done (tests/faults.py).
"""

import errno
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

WATCHERS: Final[list[Callable[[str, Path], None]]] = []
"""told of every point of every write as it is reached: its name, and what is being written"""

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_READ_ONLY: Final = (errno.EROFS,)
_FORBIDDEN: Final = (errno.EACCES, errno.EPERM)
"""these can also be said of a file that is only read"""


class WriteRefusedError(OSError):
    """The system does not let a file be written; the text says which, why, and what to do."""


def reached(point: str, path: Path) -> None:
    """Says that the write of `path` has come to `point`."""
    for watch in WATCHERS:
        watch(point, path)


def writer_name() -> str:
    """This process in the names of temporary files: its machine, shortened, and its number there. Machines
    that write to one folder may have processes of the same number."""
    machine = sha256(socket.gethostname().encode()).hexdigest()[:8]
    return f"{machine}-{os.getpid()}"


def is_gone(writer: str) -> bool:
    """Is this the name of a process of this machine that has ended? Of other machines nothing is known."""
    machine, _, number = writer.partition("-")
    if machine != writer_name().partition("-")[0] or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # it lives, as somebody else's
    return False


@contextmanager
def refusals_explained(path: Path) -> Iterator[None]:
    """A full disk and a folder that may not be written to, met while the block writes `path`, become a
    `WriteRefusedError`. Polars and DuckDB pass on the system's words in errors of their own, so it is the
    words that are looked for."""
    try:
        yield
    except WriteRefusedError:
        raise
    except Exception as error:
        said = str(error)
        every = (*_FULL, *_READ_ONLY, *_FORBIDDEN)
        code = next((code for code in every if os.strerror(code) in said), None)
        if code is None or (code in _FORBIDDEN and not _is_about(error, path)):
            raise
        raise WriteRefusedError(_told(code, path)) from error


def _is_about(error: Exception, path: Path) -> bool:
    """An OSError that names another file is not about this one."""
    named = getattr(error, "filename", None)
    return named is None or Path(named).is_relative_to(path.parent) or path.is_relative_to(named)


def _told(code: int, path: Path) -> str:
    what = f"{path} could not be written: {os.strerror(code).lower()}. What was there before stands, whole. "
    if code in _FULL:
        return what + (
            "Make room (`mineevolve gc` removes shards that nothing lists any more), then run the same "
            "command again; `mineevolve doctor` says what is whole"
        )
    return what + (
        f"Give this user the right to write to {path.parent}, or name another data home in MINEEVOLVE_DATA, "
        "then run the same command again; `mineevolve doctor` says what is whole"
    )
