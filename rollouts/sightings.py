"""What is in view of an agent, from the window of its observations: the nearest of each name, what changed.

A source without a window cannot see: it has no view (None), which is not the same as an empty one.
"""

import math
from collections.abc import Mapping
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


def names_in(view: View) -> list[str]:
    """Everything in view, sorted."""
    return sorted({thing.name for thing in view})


def stations_near(view: View) -> list[str]:
    """The stations in reach, sorted."""
    return sorted(
        thing.name for thing, distance in view.items() if thing.kind == "station" and distance <= REACH
    )


def changes(before: View, now: View, tick: int) -> list[Row]:
    """The contract's rows for what came into view, came into or went out of reach, or went out of view."""
    rows: list[Row] = []
    for thing in sorted(before.keys() | now.keys()):
        was, distance = before.get(thing), now.get(thing)
        if was is not None and distance is not None and (was <= REACH) == (distance <= REACH):
            continue
        rows.append(
            {
                "tick": tick,
                "kind": thing.kind,
                "name": thing.name,
                "distance": distance,
                "in_reach": None if distance is None else distance <= REACH,
                "visible": distance is not None,
            }
        )
    return rows


class Lookout:
    """The view of one observation after another; blocks are looked at anew only where they or the agent have
    moved."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._last: Observation | None = None
        self._blocks: dict[Thing, float] = {}

    def look(self, observation: Observation) -> View | None:
        """The view now, sorted by kind and name; None where the observation has no window."""
        window = observation.window
        if window is None:
            return None
        eye = (observation.x, observation.y + EYE_HEIGHT, observation.z)
        if self._last is None or not _same_blocks(self._last, observation):
            self._blocks = _blocks_in(window, eye, self._domain)
            self._last = observation
        nearest = dict(self._blocks)
        for entity in window.entities:
            thing = Thing("entity", entity.name)
            distance = math.dist(eye, (entity.x, entity.y, entity.z))
            nearest[thing] = min(distance, nearest.get(thing, distance))
        return {thing: nearest[thing] for thing in sorted(nearest)}


def _same_blocks(one: Observation, other: Observation) -> bool:
    before, now = one.window, other.window
    assert before is not None
    assert now is not None
    return (
        (one.x, one.y, one.z) == (other.x, other.y, other.z)
        and before.origin == now.origin
        and before.palette == now.palette
        and (before.blocks is now.blocks or np.array_equal(before.blocks, now.blocks))
    )


def _blocks_in(window: Window, eye: tuple[float, float, float], domain: Domain) -> dict[Thing, float]:
    squares = [
        (np.arange(size) + (start + 0.5 - place)) ** 2
        for size, start, place in zip(window.blocks.shape, window.origin, eye, strict=True)
    ]
    away = squares[0][:, None, None] + squares[1][None, :, None] + squares[2][None, None, :]
    nearest = np.full(len(window.palette), np.inf)
    np.minimum.at(nearest, window.blocks.ravel(), away.ravel())
    things = _things(window.palette, domain)
    found = np.flatnonzero(np.isfinite(nearest))
    return {
        thing: math.sqrt(nearest[index]) for index in found.tolist() if (thing := things[index]) is not None
    }


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
