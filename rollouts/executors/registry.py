"""The executors by name. One that is imported late is of a world that has hands of its own."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from rollouts.executors.scripted import ScriptedExecutor
from rollouts.protocols import Executor
from warehouse.domains import Domain


def _scripted(domain: Domain, seed: int, world: str, settings: Mapping[str, Any]) -> Executor:
    """The low-level policy without learning that plays a world."""
    if settings:
        raise ValueError(f"the executor scripted has no setting {', '.join(sorted(settings))}; it has none")
    if world == "mineflayer":
        from rollouts.worlds.mineflayer.executor import MineflayerExecutor

        return MineflayerExecutor(domain, seed)
    if domain.name == "crafter":
        from rollouts.worlds.crafter.executor import CrafterExecutor

        return CrafterExecutor(domain, seed)
    return ScriptedExecutor(domain, seed)


def _steve1(domain: Domain, seed: int, world: str, settings: Mapping[str, Any]) -> Executor:
    from rollouts.worlds.client.steve1.executor import make

    return make(domain, seed, settings)


EXECUTORS: Final[Mapping[str, Callable[[Domain, int, str, Mapping[str, Any]], Executor]]] = {
    "scripted": _scripted,
    "steve1": _steve1,
}
POLICIES: Final = frozenset({"steve1"})
"""the executors that ask a policy: on a cluster with GPUs each of their actors has one"""


def executor(
    name: str, domain: Domain, seed: int, world: str = "", settings: Mapping[str, Any] | None = None
) -> Executor:
    """A new executor for a world by name ("": any that is stepped by inputs), with its settings; ValueError
    for a name or a setting that is none."""
    if name not in EXECUTORS:
        raise ValueError(f"no executor {name!r}; there are: {', '.join(sorted(EXECUTORS))}")
    return EXECUTORS[name](domain, seed, world, settings or {})
