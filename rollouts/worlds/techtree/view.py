"""Observations: the state, seen from the body."""

from math import floor

import numpy as np

from rollouts.protocols import Observation, Seen, Window
from rollouts.worlds.techtree.play import Play
from rollouts.worlds.techtree.state import MAX_MOBS, real, whole
from rollouts.worlds.techtree.view_kernel import fill_around, fill_window, find_near

_X, _Y, _Z, _YAW, _PITCH, _HEALTH, _FOOD = map(real, ("x", "y", "z", "yaw", "pitch", "health", "food"))
_TICK, _ALIVE = map(whole, ("tick", "alive"))
_FEW = 4
"""blocks that changed, up to which the cells around them are filled anew and not the whole window"""


def observe(play: Play) -> Observation:
    """What the agent observes now. Things that lie about are named by their item, creatures by their kind."""
    reals, wholes = play.state.reals, play.state.wholes
    x, y, z = reals[_X], reals[_Y], reals[_Z]
    pack = play.pack
    # By place: names would take as long again.
    return Observation(
        wholes[_TICK],
        x,
        y,
        z,
        reals[_YAW],
        reals[_PITCH],
        reals[_HEALTH],
        reals[_FOOD],
        wholes[_ALIVE] != 0,
        play.screen,
        pack.counts.copy(),
        pack.held_item,
        play.message,
        _window(play, x, y, z),
    )


def _window(play: Play, x: float, y: float, z: float) -> Window:
    """The window from here. What is in it is shared by the observations from here until it changes, and so
    not to be written to; so is the window itself."""
    lookup = play.catalogue
    side, tall, far = lookup.view
    origin = (floor(x) - side, floor(y) - tall, floor(z) - side)
    entities = _entities(play, far)
    last, altered = play.view, play.altered
    one_by_one = len(altered) <= _FEW and play.seen_version + len(altered) == play.version
    if last is None or last.origin != origin or not one_by_one:
        seen = np.empty((2 * side + 1, 2 * tall + 1, 2 * side + 1), np.uint16)
        fill_window(play.blocks, lookup.traits, *origin, lookup.air, lookup.wall, lookup.unknown, seen)
        seen.flags.writeable = False
    elif altered:
        seen = last.blocks.copy()
        for cell in altered:
            fill_around(play.blocks, lookup.traits, *origin, *cell, lookup.unknown, seen)
        seen.flags.writeable = False
    elif last.entities is entities:
        return last
    else:
        seen = last.blocks
    altered.clear()
    play.seen_version = play.version
    play.view = Window(seen, origin, lookup.palette, entities)
    return play.view


def _entities(play: Play, radius: float) -> tuple[Seen, ...]:
    """What of creatures and things is near. Most stand or lie still most of the time: what is as it was is
    the same object, and so is the whole."""
    state, crowd = play.state, play.crowd
    kinds, items = play.catalogue.creatures, play.catalogue.items
    count, fresh, same = find_near(
        state.body,
        state.mobs,
        state.items,
        radius,
        crowd.known,
        crowd.rows,
        crowd.count,
        crowd.fresh,
        play.met,
        len(kinds),
    )
    if not same:
        seen, known = crowd.seen, crowd.known_at
        for row in crowd.fresh_at[:fresh].tolist():
            names = kinds if row < MAX_MOBS else items
            seen[row] = Seen(names[int(known[row, 0])], known[row, 1], known[row, 2], known[row, 3])
        crowd.count = count
        crowd.entities = tuple(map(seen.__getitem__, crowd.rows_at[:count].tolist()))
    return crowd.entities
