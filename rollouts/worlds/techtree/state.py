"""The world's state as numpy records, which the kernels read and write in place. Every byte that decides what
comes next is here, in the blocks, or in the pack (pack.py): nothing is hidden in an object.

Units are blocks, ticks, half-hearts and degrees. Truth values are integers, 0 or 1.
"""

from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

# Traits of a block, one bit each.
SOLID: Final = 1  # fills its cell for a body
OPAQUE: Final = 2  # hides what is behind it
WATER: Final = 4
LAVA: Final = 8
TARGET: Final = 16  # the look stops at it

# What a stretch of ticks ended with, one bit each.
BROKE: Final = 1
HIT: Final = 2
TOUCHED: Final = 4
ATE: Final = 8
SCREEN: Final = 16
DIED: Final = 32
HURT: Final = 64
BLOCKED: Final = 128
STUCK: Final = 256
UNFUELLED: Final = 512
LOST: Final = 1024
STALLED: Final = 2048
NOTICED: Final = BROKE | HIT | TOUCHED | ATE | SCREEN | DIED | HURT | BLOCKED
"""what an agent would notice: a step ends with it; the rest is for the inner truth alone"""


def _record(floats: str, integers: str) -> np.dtype[Any]:
    return np.dtype([(name, "f8") for name in floats.split()] + [(name, "i8") for name in integers.split()])


RULES: Final = _record(
    # Names are those of [rules] in techtree.toml, which says what each is.
    "gravity air_drag ground_drag walk sprint air_walk air_sprint sneak jump sprint_boost swim swim_up "
    "water_drag water_sink lava_drag climb_out eye half height reach strike safe_fall slow_mining "
    "lava_damage fire_damage exhaust_step exhaust_sprint exhaust_swim exhaust_jump exhaust_sprint_jump "
    "exhaust_attack exhaust_hurt exhaust_heal starving_floor mob_range pick_side pick_below pick_above "
    "stuck_radius blocked_speed",
    "jump_wait mine_wait hurt_wait fire_ticks heal_fast heal_slow eat_ticks item_life "
    "item_late smelt_ticks stuck_ticks stall_ticks stack",
)
BODY: Final = _record(
    "x y z vx vy vz yaw pitch health food saturation exhaustion fall mine_done stuck_x stuck_y stuck_z",
    "seed tick alive grounded blocked jump_wait mine_wait mine_x mine_y mine_z attack_wait use_wait "
    "eating heal_wait fire hurt_wait stuck screen screen_left screen_still hit n_mobs n_items n_furnaces",
)
CONTROLS: Final = _record(
    "damage",  # of a strike with what is held
    "forward strafe jump sneak sprint attack eat recharge",  # recharge: ticks between strikes
)
MOB: Final = _record("x y z vy yaw health home_x home_z", "kind mode left hurt grounded")
"""kind: row of the creature table, -1: gone; mode: 0 idle, 1 walking, 2 fleeing"""
CREATURE: Final = _record(
    "half height walk flee leash", "idle_least idle_most walk_least walk_most flee_ticks"
)
ITEM: Final = _record("x y z vx vy vz", "item count wear age wait refused wanted touched lost")
"""count 0: a free row; lost: 1 burnt, 2 too old, 3 not picked up for long"""
FURNACE: Final = _record("", "x y z used input n_in output n_out burn progress cold")
"""cold: 1 once the lack of fuel has been noted"""

TERRAIN: Final = _record(
    # Names are those of [terrain].
    "base shoulder swell swell_scale hill hill_scale bump bump_scale hilly_scale forest_scale forest_share "
    "tree_forest tree_plain birch plant_grass plant_flower cane cave_radius",
    "sea lowest highest soil caves cave_least cave_most ravines ravine_length ravine_floor lava pools",
)
VEIN: Final = _record("per_chunk", "block size low high hilly")
GROWN: Final = (
    "air bedrock stone dirt grass_block sand gravel water lava oak_log oak_leaves birch_log birch_leaves "
    "grass dandelion poppy sugar_cane"
)
"""the blocks that terrain is made of"""
BLOCK_NUMBERS: Final = _record("", GROWN)

MAX_MOBS: Final = 64
MAX_ITEMS: Final = 160
MAX_FURNACES: Final = 16
STRETCH: Final = 1200
"""the most ticks that one call of the kernel goes over"""

Records = npt.NDArray[Any]
_REALS: Final = sum(BODY[name] == np.float64 for name in BODY.names or ())


def real(name: str) -> int:
    """Where a number of the body is in `State.reals`."""
    return (BODY.names or ()).index(name)


def whole(name: str) -> int:
    """Where a whole number of the body is in `State.wholes`."""
    return (BODY.names or ()).index(name) - _REALS


def of_thing(name: str) -> int:
    """Where a whole number of a thing is in its row of `State.things`."""
    return (ITEM.names or ()).index(name)


class State:
    """The records of one world. `bytes()` is all of it, for comparing two worlds."""

    def __init__(self, blocks: npt.NDArray[np.uint16]) -> None:
        self.blocks = blocks
        self.body: Records = np.zeros(1, BODY)
        # The same memory: a number of a record takes ten times as long to read or write by its name.
        self.reals = cast("memoryview[float]", self.body.view(np.float64)[:_REALS].data)
        self.wholes = self.body.view(np.int64)[_REALS:].data
        self.controls: Records = np.zeros(1, CONTROLS)
        self.mobs: Records = np.zeros(MAX_MOBS, MOB)
        self.mobs["kind"] = -1
        self.items: Records = np.zeros(MAX_ITEMS, ITEM)
        self.things = self.items.view(np.int64).reshape(MAX_ITEMS, -1).data
        """their whole numbers in the same way, a row per thing"""
        self.furnaces: Records = np.zeros(MAX_FURNACES, FURNACE)

    def copy(self) -> "State":
        """The same records in memory of their own."""
        other = State(self.blocks.copy())
        for name in ("body", "controls", "mobs", "items", "furnaces"):
            getattr(other, name)[:] = getattr(self, name)
        return other

    def bytes(self) -> bytes:
        """Every byte of the records but the controls, which are the caller's."""
        parts = (self.blocks, self.body, self.mobs, self.items, self.furnaces)
        return b"".join(part.tobytes() for part in parts)
