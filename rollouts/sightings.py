"""What is in view of an agent, from the window of its observations: the nearest of each name, what changed.

A source without a window cannot see: it has no view (None), which is not the same as an empty one.
"""

import math
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from rollouts.protocols import Observation, Window
from warehouse.domains import Domain

Row = dict[str, Any]


class Thing(NamedTuple):
    """A name that can be seen, as the contract's sightings tell it apart."""

    kind: str
    name: str


View = Mapping[Thing, float]
"""thing in view -> distance of its nearest one, blocks from the eyes"""


def names_in(view: Iterable[Thing]) -> list[str]:
    """The names of everything in view, sorted."""
    return sorted({thing.name for thing in view})


def stations_near(view: View, reach: float) -> list[str]:
    """The stations within `reach` (blocks from the eyes), sorted."""
    return sorted(
        thing.name for thing, distance in view.items() if thing.kind == "station" and distance <= reach
    )


def changes(before: View, now: View, tick: int, reach: float) -> list[Row]:
    """The contract's rows for what came into view, came into or went out of reach, or went out of view."""
    if before is now:
        return []
    changed = [thing for thing in before if thing not in now]
    for thing, distance in now.items():
        was = before.get(thing)
        if was is None or (was <= reach) != (distance <= reach):
            changed.append(thing)
    return [_row(thing, now.get(thing), tick, reach) for thing in sorted(changed)]


def _row(thing: Thing, distance: float | None, tick: int, reach: float) -> Row:
    return {
        "tick": tick,
        "kind": thing.kind,
        "name": thing.name,
        "distance": distance,
        "in_reach": None if distance is None else distance <= reach,
        "visible": distance is not None,
    }


class Lookout:
    """The view of one observation after another; blocks are looked at anew only where they or the agent have
    moved."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._last: Observation | None = None
        self._blocks: dict[Thing, float] = {}
        self._crowd: dict[Thing, float] = {}
        """blocks and entities, when entities were last in view"""
        self._crowd_blocks: dict[Thing, float] | None = None
        """the blocks that are among these"""
        self._entities: dict[Thing, bool] = {}
        """the entities that are, and whether in reach"""
        self._eyes: _Eyes | None = None

    def look(self, observation: Observation) -> View | None:
        """The view now; None where the observation has no window.

        It is the same object as long as the same things are in view and the same of them in reach: what
        makes no row (see `changes`) only brings its distances up to date.
        """
        window = observation.window
        if window is None:
            return None
        eye = (observation.x, observation.y + self._domain.eye_height, observation.z)
        if self._last is None or not _same_blocks(self._last, observation):
            if self._eyes is None or self._eyes.palette is not window.palette:
                things = _things(window.palette, self._domain)
                self._eyes = _Eyes(window.palette, things, self._domain.reach)
            self._blocks = self._eyes.look(window, eye)
            self._last = observation
        return self._with_entities(window, eye) if window.entities else self._blocks

    def _with_entities(self, window: Window, eye: tuple[float, float, float]) -> View:
        nearest: dict[Thing, float] = {}
        for entity in window.entities:
            thing = _entity(entity.name)
            distance = math.dist(eye, (entity.x, entity.y, entity.z))
            known = nearest.get(thing)
            if known is None or distance < known:
                nearest[thing] = distance
        reached = {thing: distance <= self._domain.reach for thing, distance in nearest.items()}
        if self._crowd_blocks is not self._blocks or reached != self._entities:
            self._crowd_blocks, self._entities = self._blocks, reached
            self._crowd = self._blocks | nearest
        else:
            self._crowd.update(self._blocks)
            self._crowd.update(nearest)
        return self._crowd


class _Eyes:
    """The blocks in windows of one palette, one window after the other."""

    def __init__(self, palette: tuple[str, ...], things: tuple[Thing | None, ...], reach: float) -> None:
        self.palette = palette
        self._reach = reach
        self._things = things
        self._known = np.array([thing is not None for thing in things])
        self._squares, self._near = np.full(len(palette), np.inf), np.empty(len(palette))
        self._entries = np.empty(len(palette), np.int64)
        self._count = 0
        self._found: list[Thing] = []
        self._view: dict[Thing, float] = {}

    def look(self, window: Window, eye: tuple[float, float, float]) -> dict[Thing, float]:
        """The nearest of each block; the same object where only distances have changed, and none of them
        into or out of reach."""
        from rollouts.window_kernel import nearest_cells  # numba, only where there are windows

        x, y, z = window.origin
        count, same = nearest_cells(
            window.blocks,
            x + 0.5 - eye[0],
            y + 0.5 - eye[1],
            z + 0.5 - eye[2],
            self._reach,
            self._known,
            self._squares,
            self._count,
            self._entries,
            self._near,
        )
        distances = self._near[:count].tolist()
        if same:
            self._view.update(zip(self._found, distances, strict=True))
            return self._view
        self._count = count
        things = self._things
        found = [things[entry] for entry in self._entries[:count].tolist()]
        self._found = [thing for thing in found if thing is not None]
        self._view = dict(zip(self._found, distances, strict=True))
        return self._view


@cache
def _entity(name: str) -> Thing:
    return Thing("entity", name)


def _same_blocks(one: Observation, other: Observation) -> bool:
    before, now = one.window, other.window
    assert before is not None
    assert now is not None
    return (
        one.x == other.x
        and one.z == other.z
        and one.y == other.y
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
