"""The village: two houses, a field with a ditch, a cauldron, a yard. Names and sizes are [village]'s."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rollouts.worlds.techtree.catalogue import AIR
from rollouts.worlds.techtree.play import Play

Heights = npt.NDArray[np.int64]
_HOUSE = 5
_WALL_HEIGHT = 3


class Site(NamedTuple):
    """Where the village stands: its corner, its size, and the y of its ground."""

    x: int
    z: int
    width: int
    depth: int
    ground: int

    @property
    def yard(self) -> tuple[float, float, float]:
        """A point in the middle of the yard, where one stands."""
        return self.x + self.width // 2 + 0.5, self.ground + 1.0, self.z + self.depth // 2 + 0.5


def choose_site(plan: Mapping[str, Any], heights: Heights, spawn: tuple[int, int], sea: int) -> Site | None:
    """The most even dry site at the planned distance from the spawn point; None if the world is too small."""
    width, depth = plan["size"]
    edge = plan["slope"] + 1
    wide, deep = width + 2 * edge, depth + 2 * edge
    if heights.shape[0] <= wide or heights.shape[1] <= deep:
        return None
    # The land around counts too: one has to get there.
    count = wide * deep
    mean = _sums(heights, wide, deep) / count
    spread = _sums(heights**2, wide, deep) / count - mean**2
    cost = spread + plan["dislikes_water"] * _sums((heights < sea).astype(np.int64), wide, deep) / count
    middle_x = np.arange(cost.shape[0])[:, None] + edge + width // 2
    middle_z = np.arange(cost.shape[1])[None, :] + edge + depth // 2
    away = np.maximum(np.abs(middle_x - spawn[0]), np.abs(middle_z - spawn[1]))
    cost[(away < plan["near"]) | (away > plan["far"])] = np.inf
    if not np.isfinite(cost).any():
        return None
    x, z = (int(at) for at in np.unravel_index(int(cost.argmin()), cost.shape))
    return Site(x + edge, z + edge, width, depth, max(sea + 1, int(mean[x, z])))


def _sums(field: Heights, wide: int, deep: int) -> npt.NDArray[np.float64]:
    """The sum of `field` over every window of `wide` x `deep` columns, by the window's corner."""
    total = np.pad(field.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0))).astype(np.float64)
    return total[wide:, deep:] - total[:-wide, deep:] - total[wide:, :-deep] + total[:-wide, :-deep]


def level(plan: Mapping[str, Any], heights: Heights, built: npt.NDArray[np.uint8], site: Site | None) -> None:
    """Evens the ground of the site and leads the land around to it by steps of one; marks it as built."""
    if site is None:
        return
    slope = plan["slope"]
    xs = np.arange(heights.shape[0])[:, None]
    zs = np.arange(heights.shape[1])[None, :]
    off_x = np.maximum(np.maximum(site.x - xs, xs - (site.x + site.width - 1)), 0)
    off_z = np.maximum(np.maximum(site.z - zs, zs - (site.z + site.depth - 1)), 0)
    away = np.maximum(off_x, off_z)
    near = away <= slope
    led = np.clip(heights, site.ground - away, site.ground + away)
    heights[near] = led[near]
    built[near & (away <= 1)] = 1


def put_up(play: Play, site: Site | None) -> None:
    """Builds the village on its levelled ground."""
    if site is None:
        return
    plan, y = play.parameters["village"], site.ground
    clear = play.blocks[site.x : site.x + site.width, y + 1 :, site.z : site.z + site.depth]
    clear[:] = play.catalogue.block[AIR]
    _house(play, site.x + 1, y, site.z + 1, door_z=site.z + _HOUSE)
    _house(play, site.x + site.width - _HOUSE - 1, y, site.z + 1, door_z=site.z + _HOUSE)
    field_z = site.z + site.depth - 4
    for x in range(site.x + 2, site.x + site.width - 6):
        for z in range(field_z, field_z + 3):
            ditch = z == field_z + 1
            play.put((x, y, z), plan["ditch"] if ditch else plan["field"])
            if not ditch:
                play.put((x, y + 1, z), plan["crop"])
    cauldron = (site.x + site.width - 3, y + 1, site.z + site.depth // 2 + 1)
    play.put(cauldron, plan["cauldron"])
    play.water[cauldron] = play.parameters["wash"]["water"]


def _house(play: Play, x0: int, y: int, z0: int, door_z: int) -> None:
    """Walls, posts at the corners, a flat roof, and an opening in the wall at `door_z`."""
    plan = play.parameters["village"]
    last = _HOUSE - 1
    for i in range(_HOUSE):
        for k in range(_HOUSE):
            edge = i in (0, last) or k in (0, last)
            corner = i in (0, last) and k in (0, last)
            for j in range(1, _WALL_HEIGHT + 1):
                door = i == last // 2 and z0 + k == door_z and j < _WALL_HEIGHT
                if edge and not door:
                    play.put((x0 + i, y + j, z0 + k), plan["post"] if corner else plan["wall"])
            play.put((x0 + i, y + _WALL_HEIGHT + 1, z0 + k), plan["wall"])
