"""The executors by name. One that is imported late is of a world that has hands of its own."""

from collections.abc import Callable, Mapping
from typing import Final

from rollouts.executors.scripted import ScriptedExecutor
from rollouts.protocols import Executor
from warehouse.domains import Domain


def _scripted(domain: Domain, seed: int) -> Executor:
    """The low-level policy without learning that plays the worlds of a domain."""
    if domain.name == "crafter":
        from rollouts.worlds.crafter.executor import CrafterExecutor

        return CrafterExecutor(domain, seed)
    return ScriptedExecutor(domain, seed)


EXECUTORS: Final[Mapping[str, Callable[[Domain, int], Executor]]] = {"scripted": _scripted}
POLICIES: Final = frozenset[str]()
"""the executors that ask a policy: on a cluster with GPUs each of their actors has one"""


def executor(name: str, domain: Domain, seed: int) -> Executor:
    """A new executor; ValueError for a name that is none."""
    if name not in EXECUTORS:
        raise ValueError(f"no executor {name!r}; there are: {', '.join(sorted(EXECUTORS))}")
    return EXECUTORS[name](domain, seed)
