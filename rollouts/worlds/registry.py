"""The worlds by name. A world is imported when it is asked for: some need more than this project installs."""

from collections.abc import Callable, Mapping
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
    from dataclasses import fields

    from rollouts.worlds.techtree.settings import Settings
    from rollouts.worlds.techtree.world import TechTree

    known = [field.name for field in fields(Settings)]
    if unknown := sorted(set(settings) - set(known)):
        raise UnknownWorldError(f"techtree has no setting {', '.join(unknown)}; it has: {', '.join(known)}")
    return TechTree(domain, Settings(**settings))


WORLDS: Final[Mapping[str, Callable[[Domain, Mapping[str, Any]], World]]] = {"techtree": _techtree}
