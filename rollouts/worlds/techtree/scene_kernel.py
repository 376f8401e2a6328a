"""What a tick does to everything but the body: creatures, things that lie about, furnaces."""

from math import cos, floor, radians, sin
from typing import Any

import numpy as np
import numpy.typing as npt

from rollouts.worlds.techtree.compiled import chance, compiled
from rollouts.worlds.techtree.space import TOUCH, Blocks, Traits, slide, solid_box, traits_at
from rollouts.worlds.techtree.state import LAVA, LOST, SOLID, TOUCHED, UNFUELLED, WATER

Flags = npt.NDArray[np.bool_]
# Half the width of a thing that lies about, and its height.
HALF = 0.125
TALL = 0.25


@compiled
def wander(
    blocks: Blocks,
    traits: Traits,
    rules: Any,
    body: Any,
    mobs: Any,
    creatures: Any,
    still: Flags,
    ways: npt.NDArray[np.float64],
) -> None:
    """Creatures near the body idle, walk or flee; they keep out of water and from high edges.

    `still` tells which of them stood on firm ground when they last idled, in the same blocks; `ways` holds
    the yaw that each last walked in, with its sine and cosine, which take a third of its time.
    """
    for m in range(body.n_mobs):
        mob = mobs[m]
        if mob.kind < 0:
            continue
        if mob.hurt > 0:
            mob.hurt -= 1
        if abs(mob.x - body.x) > rules.mob_range or abs(mob.z - body.z) > rules.mob_range:
            continue
        own = creatures[mob.kind]
        mob.left -= 1
        if mob.left <= 0:
            luck = chance(body.seed, body.tick, m, 1)
            if mob.mode == 0:
                mob.mode = 1
                mob.yaw = floor(360.0 * chance(body.seed, body.tick, m, 2))
                strayed_x, strayed_z = mob.home_x - mob.x, mob.home_z - mob.z
                if strayed_x * strayed_x + strayed_z * strayed_z > own.leash * own.leash:
                    mob.yaw = np.degrees(np.arctan2(-strayed_x, strayed_z))
                mob.left = own.walk_least + int(luck * (own.walk_most - own.walk_least))
            else:
                mob.mode = 0
                mob.left = own.idle_least + int(luck * (own.idle_most - own.idle_least))
        if mob.mode == 0 and still[m]:
            continue
        still[m] = False
        wet = traits_at(blocks, traits, mob.x, mob.y + 0.3, mob.z) & (WATER | LAVA) != 0
        if mob.mode > 0:
            pace = own.walk if mob.mode == 1 else own.flee
            way = ways[m]
            if way[0] != mob.yaw:
                way[0], way[1], way[2] = mob.yaw, sin(radians(mob.yaw)), cos(radians(mob.yaw))
            vx, vz = -way[1] * pace, way[2] * pace
            ax, az = mob.x - way[1] * 0.8, mob.z + way[2] * 0.8
            ground = 0
            for depth in range(5):
                ground = traits_at(blocks, traits, ax, mob.y - 0.5 - depth + 1.0, az)
                if ground & (SOLID | WATER | LAVA):
                    break
            if not wet and mob.grounded and (ground & SOLID) == 0:
                # Water, or an edge too high: turn round, and if not fleeing, stop.
                mob.yaw = (mob.yaw + 150.0) % 360.0
                if mob.mode == 1:
                    mob.mode = 0
                    mob.left = own.idle_least
            else:
                dx = slide(blocks, traits, mob.x, mob.y, mob.z, own.half, own.height, 0, vx)
                mob.x += dx
                dz = slide(blocks, traits, mob.x, mob.y, mob.z, own.half, own.height, 2, vz)
                mob.z += dz
                if (dx != vx or dz != vz) and mob.grounded:
                    mob.vy = rules.jump
        under = traits_at(blocks, traits, mob.x, mob.y - TOUCH * 10.0, mob.z)
        if mob.mode == 0 and mob.grounded and not wet and under & SOLID:
            # Most creatures stand still most of the time; nothing can move them.
            still[m] = True
            continue
        mob.vy = 0.08 if wet else (mob.vy - rules.gravity) * 0.98
        dy = slide(blocks, traits, mob.x, mob.y, mob.z, own.half, own.height, 1, mob.vy)
        mob.y += dy
        mob.grounded = 1 if mob.vy < 0.0 and dy != mob.vy else 0
        if dy != mob.vy:
            mob.vy = 0.0


@compiled
def lie_about(blocks: Blocks, traits: Traits, rules: Any, body: Any, items: Any, still: Flags) -> int:
    """Things that lie about fall, age, burn, and are touched by whoever comes near.

    `still` tells which of them lay at rest on firm ground, in the same blocks.
    """
    flags = 0
    for n in range(body.n_items):
        item = items[n]
        if item.count == 0:
            continue
        item.age += 1
        if item.wait > 0:
            item.wait -= 1
        if not still[n] and item.vx == 0.0 and item.vy == 0.0 and item.vz == 0.0:
            still[n] = _is_carried(blocks, traits, item.x, item.y, item.z)
        here = 0 if still[n] else traits_at(blocks, traits, item.x, item.y + 0.1, item.z)
        if here & LAVA or item.age >= rules.item_life:
            item.lost = 1 if here & LAVA else 2
            flags |= LOST
            continue
        if not still[n]:
            item.vy = item.vy * 0.8 + 0.01 if here & WATER else (item.vy - 0.04) * 0.98
            item.x += slide(blocks, traits, item.x, item.y, item.z, HALF, TALL, 0, item.vx)
            item.z += slide(blocks, traits, item.x, item.y, item.z, HALF, TALL, 2, item.vz)
            dy = slide(blocks, traits, item.x, item.y, item.z, HALF, TALL, 1, item.vy)
            item.y += dy
            rests = dy != item.vy
            if rests:
                item.vy = 0.0
            slow = 0.5 if rests else 0.98
            item.vx, item.vz = item.vx * slow, item.vz * slow
            if abs(item.vx) + abs(item.vz) < 1e-3:
                item.vx, item.vz = 0.0, 0.0
        if item.refused:
            continue
        near = abs(item.x - body.x) <= rules.pick_side and abs(item.z - body.z) <= rules.pick_side
        level = -rules.pick_below <= item.y - body.y <= rules.pick_above
        if near and level and item.wait == 0 and body.alive:
            item.touched = 1
            flags |= TOUCHED
        elif item.age == rules.item_late and item.wanted:
            item.lost = 3
            flags |= LOST
    return flags


@compiled
def _is_carried(blocks: Blocks, traits: Traits, x: float, y: float, z: float) -> bool:
    """Whether a thing without speed lies exactly on something solid, in no liquid: there it stays."""
    if y != floor(y) or traits_at(blocks, traits, x, y + 0.1, z) & (WATER | LAVA):
        return False
    x0, x1 = floor(x - HALF + TOUCH), floor(x + HALF - TOUCH)
    z0, z1 = floor(z - HALF + TOUCH), floor(z + HALF - TOUCH)
    under = floor(y) - 1
    return solid_box(blocks, traits, x0, x1, under, under, z0, z1)


@compiled
def let_fall(
    seed: int,
    now: int,
    x: float,
    y: float,
    z: float,
    toss: float,
    item: int,
    count: int,
    wear: int,
    wait: int,
    wanted: int,
    bodies: Any,
    items: Any,
) -> None:
    """A thing begins to lie about at (x, y, z), tossed sideways by luck, in the first free row of `items`;
    in that of the oldest where none is free."""
    place = 0
    for n in range(len(items)):
        if items[n].count == 0:
            place = n
            break
        if items[n].age > items[place].age:
            place = n
    thing = items[place]
    thing.x, thing.y, thing.z = x, y, z
    thing.vx = toss * (2 * chance(seed, now, 20, place) - 1)
    thing.vy = 0.1
    thing.vz = toss * (2 * chance(seed, now, 21, place) - 1)
    thing.item, thing.count, thing.wear, thing.age, thing.wait = item, count, wear, 0, wait
    thing.refused, thing.wanted, thing.touched, thing.lost = 0, wanted, 0, 0
    bodies[0].n_items = max(bodies[0].n_items, place + 1)


@compiled
def smelt(rules: Any, body: Any, furnaces: Any) -> int:
    flags = 0
    for n in range(body.n_furnaces):
        oven = furnaces[n]
        if oven.used == 0:
            continue
        if oven.n_in > 0 and oven.burn > 0 and oven.n_out < rules.stack:
            oven.progress += 1
            if oven.progress >= rules.smelt_ticks:
                oven.progress = 0
                oven.n_in -= 1
                oven.n_out += 1
        elif oven.progress > 0:
            oven.progress = max(0, oven.progress - 2)
        if oven.burn > 0:
            oven.burn -= 1
        if oven.n_in > 0 and oven.burn == 0 and oven.cold == 0:
            oven.cold = 1
            flags |= UNFUELLED
    return flags
