"""Accidents on purpose: a process that is killed, or a write that is refused, at a given point of work."""

import errno
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from warehouse.writing import WATCHERS

# Forked off a server that has the heavy libraries loaded and no thread running: a child costs a tenth of a
# second instead of some.
CHILDREN = multiprocessing.get_context("forkserver")
CHILDREN.set_forkserver_preload(["warehouse.analysis", "warehouse.inbox", "warehouse.repair"])
PATIENCE_S = 300


@contextmanager
def watched(watch: Callable[[str, Path], None]) -> Iterator[None]:
    """`watch` is told of every point that a write reaches while the block runs."""
    WATCHERS.append(watch)
    try:
        yield
    finally:
        WATCHERS.remove(watch)


def points_of(work: Callable[..., object], *arguments: Any) -> list[tuple[str, str]]:
    """The points that `work` reaches, in order, each with the kind of file that is written there."""
    seen: list[tuple[str, str]] = []
    with watched(lambda point, path: seen.append((point, _kind(path)))):
        work(*arguments)
    return seen


def killed_at(number: int, work: Callable[..., object], *arguments: Any) -> None:
    """Has a process do `work` that is killed, as by kill -9, at its `number`-th point."""
    child = CHILDREN.Process(target=_until_killed, args=(number, work, arguments))
    child.start()
    child.join(PATIENCE_S)
    assert child.exitcode == -signal.SIGKILL, f"it ended with {child.exitcode}"


@contextmanager
def refused_at(number: int, code: int = errno.ENOSPC) -> Iterator[None]:
    """The system refuses the `number`-th point that is reached in the block: a full disk, by default."""
    left = [number]

    def refuse(*_: object) -> None:
        left[0] -= 1
        if left[0] == -1:
            raise OSError(code, os.strerror(code))

    with watched(refuse):
        yield


def _until_killed(number: int, work: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    left = [number]

    def kill(*_: object) -> None:
        left[0] -= 1
        if left[0] == -1:
            os.kill(os.getpid(), signal.SIGKILL)

    with watched(kill):
        work(*arguments)


def _kind(path: Path) -> str:
    """What sort of file it is, without what is named by content or by a build."""
    if "log" in path.parts:
        return f"log of {path.parts[-3]}"
    if "snapshots" in path.parts:
        return path.name if len(path.stem) > 2 else f"snapshot of {path.parts[-2]}"
    folder = next((part for part in ("inbox", "traces", "feedback") if part in path.parts), "")
    return f"{folder}{path.suffix}" if folder else path.name
