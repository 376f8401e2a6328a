"""What is in view of an agent, from the window of its observations: the nearest of each name, what changed.

A source without a window cannot see: it has no view (None), which is not the same as an empty one.
"""

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from rollouts.protocols import Observation, Window
from warehouse.domains import Domain

Row = dict[str, Any]
REACH: Final = 4.5
"""blocks from the eyes: how far a player can act"""
EYE_HEIGHT: Final = 1.62
"""blocks above the feet"""


class Thing(NamedTuple):
    """A name that can be seen, as the contract's sightings tell it apart."""

    kind: str
    name: str


View = Mapping[Thing, float]
"""thing in view -> distance of its nearest one, blocks from the eyes"""


def names_in(view: Iterable[Thing]) -> list[str]:
    """The names of everything in view, sorted."""
    return sorted({thing.name for thing in view})


def stations_near(view: View) -> list[str]:
    """The stations in reach, sorted."""
    return sorted(
        thing.name for thing, distance in view.items() if thing.kind == "station" and distance <= REACH
    )


def changes(before: View, now: View, tick: int) -> list[Row]:
    """The contract's rows for what came into view, came into or went out of reach, or went out of view."""
    if before is now:
        return []
    changed = [thing for thing in before if thing not in now]
    for thing, distance in now.items():
        was = before.get(thing)
        if was is None or (was <= REACH) != (distance <= REACH):
            changed.append(thing)
    return [_row(thing, now.get(thing), tick) for thing in sorted(changed)]


def _row(thing: Thing, distance: float | None, tick: int) -> Row:
    return {
        "tick": tick,
        "kind": thing.kind,
        "name": thing.name,
        "distance": distance,
        "in_reach": None if distance is None else distance <= REACH,
        "visible": distance is not None,
    }


class Lookout:
    """The view of one observation after another; blocks are looked at anew only where they or the agent have
    moved."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._last: Observation | None = None
        self._blocks: dict[Thing, float] = {}
        self._palette: tuple[str, ...] = ()
        self._things: tuple[Thing | None, ...] = ()

    def look(self, observation: Observation) -> View | None:
        """The view now; None where the observation has no window. It is the same object as before where
        nothing has changed and no entity is in view."""
        window = observation.window
        if window is None:
            return None
        eye = (observation.x, observation.y + EYE_HEIGHT, observation.z)
        if self._last is None or not _same_blocks(self._last, observation):
            self._blocks = self._blocks_in(window, eye)
            self._last = observation
        if not window.entities:
            return self._blocks
        nearest = dict(self._blocks)
        for entity in window.entities:
            thing = Thing("entity", entity.name)
            distance = math.dist(eye, (entity.x, entity.y, entity.z))
            nearest[thing] = min(distance, nearest.get(thing, distance))
        return nearest

    def _blocks_in(self, window: Window, eye: tuple[float, float, float]) -> dict[Thing, float]:
        from rollouts.window_kernel import nearest_squares  # numba, only where there are windows

        if window.palette is not self._palette:
            self._palette, self._things = window.palette, _things(window.palette, self._domain)
        corner = [start + 0.5 - place for start, place in zip(window.origin, eye, strict=True)]
        squares = np.empty(len(window.palette))
        nearest_squares(window.blocks, corner[0], corner[1], corner[2], squares)
        found = np.flatnonzero(np.isfinite(squares))
        near = np.sqrt(squares[found]).tolist()
        things = self._things
        return {
            thing: distance
            for index, distance in zip(found.tolist(), near, strict=True)
            if (thing := things[index]) is not None
        }


def _same_blocks(one: Observation, other: Observation) -> bool:
    before, now = one.window, other.window
    assert before is not None
    assert now is not None
    return (
        (one.x, one.y, one.z) == (other.x, other.y, other.z)
        and before.origin == now.origin
        and (before.palette is now.palette or before.palette == now.palette)
        and (before.blocks is now.blocks or np.array_equal(before.blocks, now.blocks))
    )


@lru_cache(maxsize=64)
def _things(palette: tuple[str, ...], domain: Domain) -> tuple[Thing | None, ...]:
    """What each palette entry is; None for what the domain does not know, "unknown" among it."""
    return tuple(
        Thing("station", name)
        if name in domain.stations
        else Thing("block", name)
        if name in domain.blocks
        else None
        for name in palette
    )
