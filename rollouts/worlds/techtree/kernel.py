"""The compiled heart: ticks, one after the other, until something happens. The order of a tick is below."""

from typing import Any

import numpy as np
import numpy.typing as npt

from rollouts.worlds.techtree.body_kernel import keep_alive, move, use_hands
from rollouts.worlds.techtree.compiled import compiled
from rollouts.worlds.techtree.scene_kernel import lie_about, smelt, wander
from rollouts.worlds.techtree.space import Blocks, Traits
from rollouts.worlds.techtree.state import SCREEN, STALLED


@compiled
def advance(
    ticks: int,
    first: int,
    blocks: Blocks,
    traits: Traits,
    speed: Any,
    rules: Any,
    creatures: Any,
    bodies: Any,
    inputs: Any,
    mobs: Any,
    items: Any,
    furnaces: Any,
    out: npt.NDArray[np.float32],
) -> tuple[int, int]:
    """Up to `ticks` ticks under the same inputs; what passed, and the flags of the last tick.

    `out[:, first + n]` gets x, y, z, yaw, pitch, health, hunger and alive after tick n. A tick that raised
    any flag is the last.
    """
    body, controls, rule = bodies[0], inputs[0], rules[0]
    # Blocks change between calls only, so what nothing moved in one tick need not be looked at in the next.
    idle, lying = np.zeros(len(mobs), np.bool_), np.zeros(len(items), np.bool_)
    ways = np.full((len(mobs), 3), np.nan)
    for n in range(ticks):
        flags = 0
        body.tick += 1
        body.use_wait = max(0, body.use_wait - 1)
        body.attack_wait = max(0, body.attack_wait - 1)
        body.hurt_wait = max(0, body.hurt_wait - 1)
        body.jump_wait = max(0, body.jump_wait - 1)
        body.mine_wait = max(0, body.mine_wait - 1)
        if body.alive:
            flags |= use_hands(blocks, traits, speed, rule, body, controls, mobs, creatures)
            flags |= move(blocks, traits, rule, body, controls)
            flags |= keep_alive(blocks, traits, rule, body)
            if body.screen:
                body.screen_still += 1
                if body.screen_still == rule.stall_ticks:
                    flags |= STALLED
                if body.screen_left > 0:
                    body.screen_left -= 1
                    if body.screen_left == 0:
                        flags |= SCREEN
        wander(blocks, traits, rule, body, mobs, creatures, idle, ways)
        flags |= lie_about(blocks, traits, rule, body, items, lying)
        flags |= smelt(rule, body, furnaces)
        at = first + n
        out[0, at], out[1, at], out[2, at] = body.x, body.y, body.z
        out[3, at], out[4, at] = body.yaw, body.pitch
        out[5, at], out[6, at], out[7, at] = body.health, body.food, body.alive
        if flags:
            return n + 1, flags
    return ticks, 0
