"""The executors by name."""

from collections.abc import Callable, Mapping
from typing import Final

from rollouts.executors.scripted import ScriptedExecutor
from rollouts.protocols import Executor
from warehouse.domains import Domain

EXECUTORS: Final[Mapping[str, Callable[[Domain, int], Executor]]] = {"scripted": ScriptedExecutor}


def executor(name: str, domain: Domain, seed: int) -> Executor:
    """A new executor; ValueError for a name that is none."""
    if name not in EXECUTORS:
        raise ValueError(f"no executor {name!r}; there are: {', '.join(sorted(EXECUTORS))}")
    return EXECUTORS[name](domain, seed)
