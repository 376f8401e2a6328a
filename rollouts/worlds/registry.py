"""The worlds by name. A world is imported when it is asked for: some need more than this project installs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from shutil import which
from typing import TYPE_CHECKING, Any, Final

from rollouts.protocols import World
from warehouse.domains import Domain

if TYPE_CHECKING:
    from rollouts.worlds.client.settings import Settings as ClientSettings


@dataclass(frozen=True)
class Venue:
    """Where episodes are played, and by what hands: a world by name with its settings, and an executor where
    it is not the agent's own choice."""

    world: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    executor: str = ""
    executor_settings: Mapping[str, Any] = field(default_factory=dict)


class UnknownWorldError(ValueError):
    """No world has the name that a setting gives, or the world has no such setting."""


def world(name: str, domain: Domain, settings: Mapping[str, Any]) -> World:
    """A new world called `name`, not reset yet. `UnknownWorldError` lists the names, or the settings."""
    if name not in WORLDS:
        raise UnknownWorldError(f"no world {name!r}; there are: {', '.join(sorted(WORLDS))}")
    return WORLDS[name](domain, settings)


def _techtree(domain: Domain, settings: Mapping[str, Any]) -> World:
    from rollouts.worlds.techtree.settings import Settings
    from rollouts.worlds.techtree.world import TechTree

    _check("techtree", settings, Settings)
    return TechTree(domain, Settings(**settings))


def _crafter(domain: Domain, settings: Mapping[str, Any]) -> World:
    from rollouts.worlds.crafter.settings import Settings

    _check("crafter", settings, Settings)
    if find_spec("crafter") is None:
        raise UnknownWorldError("the world crafter needs the game: pip install 'mineevolve[crafter]'")
    from rollouts.worlds.crafter.world import CrafterWorld

    return CrafterWorld(domain, Settings(**settings))


def _mineflayer(domain: Domain, settings: Mapping[str, Any]) -> World:
    from rollouts.worlds.mineflayer.settings import WORKER, Settings

    _check("mineflayer", settings, Settings)
    chosen = Settings(**settings)
    if which(chosen.node) is None or not (WORKER / "node_modules").exists():
        raise UnknownWorldError("the world mineflayer needs Node 20 and its packages: make world-mineflayer")
    from rollouts.worlds.mineflayer.world import MineflayerWorld

    return MineflayerWorld(domain, chosen)


def _minestudio(domain: Domain, settings: Mapping[str, Any]) -> World:
    from rollouts.worlds.client.settings import Settings

    return _client("minestudio", settings, Settings)


def _minerl(domain: Domain, settings: Mapping[str, Any]) -> World:
    from rollouts.worlds.client.settings import MineRLSettings

    return _client("minerl", settings, MineRLSettings)


def _client(name: str, settings: Mapping[str, Any], kind: "type[ClientSettings]") -> World:
    _check(name, settings, kind)
    try:
        chosen = kind.of(settings)
    except ValueError as error:
        raise UnknownWorldError(f"{name}: {error}") from error
    if which(chosen.interpreter(name)) is None:
        raise UnknownWorldError(
            f"the world {name} needs an interpreter of its own at {chosen.interpreter(name)}: "
            f"make world-{name}, or the setting python"
        )
    from rollouts.worlds.client.world import ClientWorld

    return ClientWorld(name, chosen)


def _check(name: str, settings: Mapping[str, Any], kind: Any) -> None:
    known = [field.name for field in fields(kind)]
    if unknown := sorted(set(settings) - set(known)):
        raise UnknownWorldError(f"{name} has no setting {', '.join(unknown)}; it has: {', '.join(known)}")


WORLDS: Final[Mapping[str, Callable[[Domain, Mapping[str, Any]], World]]] = {
    "techtree": _techtree,
    "crafter": _crafter,
    "mineflayer": _mineflayer,
    "minestudio": _minestudio,
    "minerl": _minerl,
}

COPIED: Final = frozenset({"techtree"})
"""worlds that can go on in two ways from where they stand (`Branching`): try-outs are made there"""

_OF_DOMAINS: Final[Mapping[str, tuple[str, ...]]] = {
    "minecraft": ("techtree", "mineflayer", "minestudio", "minerl"),
    "crafter": ("crafter",),
}
"""domain -> its worlds, the one that is played in where none is named first"""


_CLIENTS: Final = frozenset({"minestudio", "minerl"})
"""the game's own client: seen as a picture and moved by keys, which one policy can"""
_POLICY: Final = "steve1"
_GAMES: Final = 4
"""games that a process of rollouts has open; they share the policy's batches"""

_OF_THE_MACHINE: Final = frozenset({"python", "node", "film", "games", "silence_s", "reply_s", "device"})
"""settings, of worlds and executors, that say where things are and not how an episode goes"""


def deciding(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that decide how an episode goes."""
    return {name: value for name, value in settings.items() if name not in _OF_THE_MACHINE}


def venue_of(
    domain: str,
    named: str = "",
    settings: Mapping[str, Any] | None = None,
    executor_settings: Mapping[str, Any] | None = None,
) -> Venue:
    """Where episodes of the domain of this name are played: in the world that is `named`, or its usual one.
    `UnknownWorldError` where it has none, or not that one."""
    worlds = _OF_DOMAINS.get(domain, ())
    if not worlds:
        raise UnknownWorldError(f"there is no world to play {domain} in")
    if named and named not in worlds:
        raise UnknownWorldError(f"{domain} is not played in {named!r}, but in: {', '.join(worlds)}")
    world = named or worlds[0]
    return Venue(world, settings or {}, _POLICY if world in _CLIENTS else "", executor_settings or {})


def open_at_once(venue: Venue) -> int | None:
    """How many worlds a process has open at a time there; None where they cost next to nothing."""
    if venue.world in _CLIENTS:
        return int(venue.settings.get("games", _GAMES))
    if venue.world != "mineflayer":
        return None
    # Each is a process of its own; and on a server of the user's one player can join once.
    return 1 if venue.settings.get("host") else 2


def side_by_side(venue: Venue) -> int:
    """How many of its open worlds a process steps at the same time: those that are processes of their own."""
    return open_at_once(venue) or 1
