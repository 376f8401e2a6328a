"""The worlds by name. A world is imported when it is asked for: some need more than this project installs."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from importlib.util import find_spec
from typing import Any, Final

from rollouts.protocols import World
from warehouse.domains import Domain


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


def _check(name: str, settings: Mapping[str, Any], kind: Any) -> None:
    known = [field.name for field in fields(kind)]
    if unknown := sorted(set(settings) - set(known)):
        raise UnknownWorldError(f"{name} has no setting {', '.join(unknown)}; it has: {', '.join(known)}")


WORLDS: Final[Mapping[str, Callable[[Domain, Mapping[str, Any]], World]]] = {
    "techtree": _techtree,
    "crafter": _crafter,
}

COPIED: Final = frozenset({"techtree"})
"""worlds that can go on in two ways from where they stand (`Branching`): try-outs are made there"""

_OF_DOMAINS: Final[Mapping[str, str]] = {"minecraft": "techtree", "crafter": "crafter"}


def world_of(domain: str) -> str:
    """The world in which the episodes of the domain of this name are played; `UnknownWorldError` where it has
    none."""
    if domain not in _OF_DOMAINS:
        raise UnknownWorldError(f"there is no world to play {domain} in")
    return _OF_DOMAINS[domain]
