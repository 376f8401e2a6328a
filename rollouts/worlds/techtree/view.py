"""Observations: the state, seen from the body."""

from math import floor
from operator import itemgetter
from typing import Final

import numpy as np

from rollouts.protocols import Observation, Seen, Window
from rollouts.worlds.techtree.play import Play
from rollouts.worlds.techtree.state import BODY, MAX_ITEMS, MAX_MOBS
from rollouts.worlds.techtree.view_kernel import fill_window, find_near

_FIELDS: Final = ("tick", "x", "y", "z", "yaw", "pitch", "health", "food", "alive")
_VALUES: Final = itemgetter(*(list(BODY.names or ()).index(name) for name in _FIELDS))


def observe(play: Play) -> Observation:
    """What the agent observes now. Things that lie about are named by their item, creatures by their kind."""
    tick, x, y, z, yaw, pitch, health, hunger, alive = _VALUES(play.body.item())
    return Observation(
        tick=tick,
        x=x,
        y=y,
        z=z,
        yaw=yaw,
        pitch=pitch,
        health=health,
        hunger=hunger,
        alive=bool(alive),
        gui=play.screen,
        inventory=dict(play.pack.counts),
        equipped=play.pack.held_item,
        message=play.message,
        window=_window(play, x, y, z),
    )


def _window(play: Play, x: float, y: float, z: float) -> Window:
    view, lookup = play.parameters["view"], play.catalogue
    side, tall = view["radius"], view["radius_y"]
    origin = (floor(x) - side, floor(y) - tall, floor(z) - side)
    key = (*origin, play.version)
    if play.view is None or play.view[0] != key:
        seen = np.empty((2 * side + 1, 2 * tall + 1, 2 * side + 1), np.uint16)
        fill_window(play.blocks, lookup.traits, *origin, lookup.air, lookup.wall, lookup.unknown, seen)
        # Shared by the observations from here until a block changes, and so not to be written to.
        seen.flags.writeable = False
        play.view = (key, seen)
    return Window(play.view[1], origin, lookup.palette, _entities(play, view["entities"]))


def _entities(play: Play, radius: float) -> tuple[Seen, ...]:
    state, near = play.state, np.empty((MAX_MOBS + MAX_ITEMS, 4))
    n_mobs, n_items = find_near(state.body, state.mobs, state.items, float(radius), near)
    kinds, items = play.catalogue.creatures, play.catalogue.items
    rows = near[: n_mobs + n_items].tolist()
    creatures = [Seen(kinds[int(number)], x, y, z) for number, x, y, z in rows[:n_mobs]]
    things = [Seen(items[int(number)], x, y, z) for number, x, y, z in rows[n_mobs:]]
    return (*creatures, *things)
