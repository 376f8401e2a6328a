"""Probes for scoring Monitor against the inner truth: subgoals that are given straight to the executor, in a
world in which something stands in their way. What stands there is a thing of the world (no table, a moat, a
full pack); what came of it, and why, the world says by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from rollouts.protocols import Subgoal
from rollouts.worlds.techtree.stages import (
    Stage,
    block,
    both,
    creature,
    full_pack,
    ground,
    hungry,
    loaded_furnace,
    moat,
    moved,
    pit,
    screen,
    walls,
)
from warehouse.knowledge import Check


@dataclass(frozen=True)
class Probe:
    """A subgoal, what is in the pack, and what is done to the world before it begins."""

    name: str
    goal: Subgoal
    pack: Mapping[str, int] = field(default_factory=dict)
    stage: Stage = lambda play: None


def goal(
    kind: str, target: str | None, seconds: float, count: int = 1, words: str = "", check: str | None = None
) -> Subgoal:
    """A subgoal as a planner would write it: so many of the target, or of `check`, held in the end."""
    held = check or target or "diamond"
    return Subgoal(
        "probe",
        words or f"{kind} {count} {(target or '').replace('_', ' ')}",
        kind,
        target,
        count=count,
        timeout_s=seconds,
        checks=(Check(type="inv_ge", name=held, value=float(count)),),
    )


_TABLE: Final = block("crafting_table", 1, 0, 0)
_FURNACE: Final = block("furnace", 1, 0, 0)
_LEVEL: Final = ground(14)
_WOOD: Final = {"oak_planks": 20, "stick": 10}


def probes() -> list[Probe]:
    """All of them, by what stands in the way."""
    return [*_making(), *_mining(), *_finding(), *_moving(), *_others()]


def _making() -> list[Probe]:
    iron = {"iron_ore": 3, "coal": 3}
    return [
        *(
            Probe(f"craft {item} without a table", goal("craft", item, 20), pack)
            for item, pack in (
                ("wooden_pickaxe", _WOOD),
                ("furnace", {"cobblestone": 8}),
                ("chest", _WOOD | {"crafting_table": 1}),
                ("bucket", {"iron_ingot": 3}),
            )
        ),
        Probe(
            "craft behind a moat from the table",
            goal("craft", "wooden_pickaxe", 30),
            _WOOD,
            both(_LEVEL, moat("lava", 4, 10, 2, 0), block("crafting_table", 8, 3, 0)),
        ),
        *(
            Probe(f"craft {item} with too little", goal("craft", item, 20), pack, both(_LEVEL, _TABLE))
            for item, pack in (
                ("iron_pickaxe", {"iron_ingot": 2, "stick": 2}),
                ("furnace", {"cobblestone": 7}),
                ("wooden_pickaxe", {"stick": 2}),
                ("diamond_sword", {"diamond": 1}),
            )
        ),
        *(
            Probe(f"craft {item} with nothing", goal("craft", item, 20))
            for item in ("oak_planks", "stick", "crafting_table", "#planks")
        ),
        Probe("craft 8 sticks of 2 planks", goal("craft", "stick", 20, 8), {"oak_planks": 2}),
        Probe(
            "craft into a full pack", goal("craft", "stick", 20), {"oak_planks": 64}, full_pack("oak_planks")
        ),
        Probe(
            "craft a chest into a full pack",
            goal("craft", "chest", 20),
            {"oak_planks": 64},
            both(_TABLE, full_pack("oak_planks", "chest")),
        ),
        *(Probe(f"craft {item}", goal("craft", item, 20), _WOOD) for item in ("cobblestone", "iron_ore")),
        Probe("craft what there is not", goal("craft", "vibranium_pickaxe", 20, check="diamond"), _WOOD),
        Probe("smelt without a furnace", goal("smelt", "iron_ingot", 30), iron),
        Probe("smelt with the furnace in the pack", goal("smelt", "iron_ingot", 30), iron | {"furnace": 1}),
        Probe("smelt without fuel", goal("smelt", "iron_ingot", 30), {"iron_ore": 3}, both(_LEVEL, _FURNACE)),
        Probe("smelt sand without fuel", goal("smelt", "glass", 30), {"sand": 3}, both(_LEVEL, _FURNACE)),
        Probe(
            "smelt with too little fuel",
            goal("smelt", "iron_ingot", 60, 3),
            {"iron_ore": 3, "stick": 3},
            both(_LEVEL, _FURNACE),
        ),
        Probe("smelt without ore", goal("smelt", "iron_ingot", 30), {"coal": 3}, both(_LEVEL, _FURNACE)),
        Probe(
            "smelt 3 of 1 ore",
            goal("smelt", "iron_ingot", 60, 3),
            {"coal": 3, "iron_ore": 1},
            both(_LEVEL, _FURNACE),
        ),
        Probe(
            "smelt in a furnace that holds something else",
            goal("smelt", "iron_ingot", 30),
            iron,
            both(_LEVEL, loaded_furnace("sand")),
        ),
        Probe(
            "smelt gold in a furnace that holds something else",
            goal("smelt", "gold_ingot", 30),
            {"gold_ore": 2, "oak_planks": 5},
            both(_LEVEL, loaded_furnace("porkchop")),
        ),
        Probe(
            "smelt into a full pack",
            goal("smelt", "iron_ingot", 30),
            {"iron_ore": 64, "coal": 64},
            both(_LEVEL, _FURNACE, full_pack("iron_ore", "coal", "iron_ingot")),
        ),
        Probe(
            "smelt what no furnace takes",
            goal("smelt", "oak_planks", 20, check="diamond"),
            _WOOD,
            both(_LEVEL, _FURNACE),
        ),
    ]


def _mining() -> list[Probe]:
    ore = partial(block, dx=2, dy=0, dz=0)
    return [
        Probe("mine stone by hand", goal("mine", "cobblestone", 60)),
        Probe("mine coal by hand", goal("mine", "coal", 40), {}, both(_LEVEL, ore("coal_ore"))),
        *(
            Probe(f"mine {name} with {tool}", goal("mine", name, 60), {tool: 1}, both(_LEVEL, ore(name)))
            for name, tool in (
                ("iron_ore", "wooden_pickaxe"),
                ("gold_ore", "stone_pickaxe"),
                ("diamond_ore", "golden_pickaxe"),
            )
        ),
        Probe("mine logs with a full pack", goal("mine", "#logs", 60), {}, full_pack()),
        Probe(
            "mine stone with a full pack",
            goal("mine", "cobblestone", 60),
            {"stone_pickaxe": 1},
            both(_LEVEL, full_pack("cobblestone")),
        ),
        *(
            Probe(
                f"mine a log over {what}",
                goal("mine", "oak_log", 30),
                {},
                both(_LEVEL, moat(what, 0, 2, depth, 4), block("oak_log", 4, 0, 0)),
            )
            for what, depth in (("lava", 3), ("air", 11))
        ),
        Probe("mine 64 stone in 20 s", goal("mine", "cobblestone", 20, 64), {"stone_pickaxe": 1}),
        Probe("mine 40 logs in 60 s", goal("mine", "#logs", 60, 40)),
        Probe("mine an ingot", goal("mine", "iron_ingot", 20)),
        Probe(
            "mine with a screen open",
            goal("mine", "oak_log", 20),
            {},
            both(_LEVEL, ore("oak_log"), screen("other")),
        ),
        Probe("mine at a table that stays open", goal("mine", "#logs", 15), {}, screen("crafting_table")),
    ]


def _finding() -> list[Probe]:
    # Wood that grows nowhere here, so that there is no other way to it than this.
    island = both(_LEVEL, moat("lava", 4, 10, 2, 0))
    dry = both(_LEVEL, moat("air", 4, 10, 8, 0))
    return [
        *(
            Probe(f"mine {name} where there is none", goal("mine", name, 40))
            for name in ("pumpkin", "melon", "cactus")
        ),
        Probe("mine diamonds in the open for 90 s", goal("mine", "diamond", 90), {"iron_pickaxe": 1}),
        Probe("hunt what does not live here", goal("combat", "rabbit", 40, check="rabbit_hide")),
        Probe("hunt a spider", goal("combat", "spider", 60, check="string")),
        Probe(
            "find a villager far away",
            goal("use", "villager", 15, words="trade with a villager", check="emerald"),
        ),
        *(
            Probe(
                f"mine {log} {where}",
                goal("mine", log, 40),
                {},
                both(shore, block(log, 8, height, 0)),
            )
            for where, shore in (("beyond lava", island), ("beyond a ditch", dry))
            for log, height in (("jungle_log", 3), ("acacia_log", 4))
        ),
        Probe(
            "mine a log behind glass",
            goal("mine", "jungle_log", 40),
            {},
            both(_LEVEL, *_case_of(6), block("jungle_log", 6, 0, 0)),
        ),
        Probe(
            "hunt a cow beyond lava",
            goal("combat", "cow", 40, check="beef"),
            {},
            both(island, block("stone", 8, -1, 0), creature("cow", 8, 0)),
        ),
        Probe(
            "trade beyond a ditch",
            goal("use", "villager", 40, words="trade with the villager", check="iron_ingot"),
            {"coal": 30},
            both(dry, block("stone", 8, -1, 0), creature("villager", 8, 0)),
        ),
    ]


def _case_of(dx: int) -> list[Stage]:
    """What nothing breaks around a cell, with a pane towards the feet that one can see through."""
    around = [(i, dy, k) for i in (-1, 0, 1) for k in (-1, 0, 1) for dy in (0, 1)]
    return [block("barrier" if at == (-1, 0, 0) else "bedrock", dx + at[0], at[1], at[2]) for at in around]


def _moving() -> list[Probe]:
    on = partial(goal, "move", None, words="walk on")
    return [
        *(Probe(f"walk out of a pit {depth} deep", on(30), {}, both(_LEVEL, pit(depth))) for depth in (2, 4)),
        Probe("walk on between walls", on(30), {}, both(_LEVEL, walls("bedrock", 1, 4))),
        Probe("walk on in a small yard", on(30), {}, both(_LEVEL, walls("bedrock", 2, 4))),
        Probe("walk on in a yard", on(40), {}, both(_LEVEL, walls("bedrock", 5, 4))),
        Probe("mine from a pit", goal("mine", "#logs", 30), {}, both(_LEVEL, pit(4))),
        Probe(
            "hunt from a cage",
            goal("combat", "cow", 30, check="beef"),
            {},
            both(_LEVEL, walls("bedrock", 1, 4)),
        ),
        Probe("walk for 15 s", on(15)),
        Probe("walk for 30 s", on(30)),
        Probe("mine in lava", goal("mine", "#logs", 30), {}, both(_LEVEL, moat("lava", 0, 2, 3, 0))),
        Probe("fall from the sky", goal("mine", "#logs", 30), {}, moved(0, 28, 0)),
        Probe("fall when weak", goal("mine", "#logs", 30), {}, both(hungry, moved(0, 6, 0))),
    ]


def _others() -> list[Probe]:
    return [
        Probe("wait for a diamond", goal("wait", None, 5)),
        Probe("wait for logs", goal("wait", "oak_log", 8)),
        Probe("eat nothing", goal("use", "bread", 10, words="eat bread")),
        Probe(
            "place a table that is not held",
            goal("use", "crafting_table", 10, words="place the crafting table"),
        ),
        Probe(
            "trade without coal",
            goal("use", "villager", 30, words="trade with the villager", check="iron_ingot"),
            {},
            both(_LEVEL, creature("villager", 4, 0)),
        ),
    ]


def all_names(of: Sequence[Probe]) -> list[str]:
    """Their names, each once."""
    return sorted({probe.name for probe in of})
