"""How often the scripted executor does what basic subgoals ask for, in techtree.

    python -m bench.executor --seeds 40

Every row is one subgoal on the same seeds, from the spawn point, with what it needs in the pack and with
nobody planning around it: no remedies, no second try, but for the last rows, which are about second tries.
Success is what the subgoal says, by the state after it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Annotated, Final, NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from scipy.stats import binomtest

from rollouts.executors.registry import executor
from rollouts.protocols import Action, Executor, Observation, Subgoal
from rollouts.worlds.techtree import TechTree
from warehouse.domains import Domain, load_domain
from warehouse.knowledge import Check

SEEDS: Final = 40
FIRST_SEED: Final = 1000
TICKS_PER_SECOND: Final = 20
CLEAR: Final = Check(type="path_clear")
FAR: Final = 12
"""blocks around the spawn point that are emptied of what a row wants far"""


@dataclass(frozen=True)
class Row:
    """A subgoal, what is in the pack at its start, and when it counts as done."""

    title: str
    goal: Subgoal
    limit_s: int
    pack: Mapping[str, int] = field(default_factory=dict)
    holds: Callable[[Observation], bool] = lambda seen: False
    far: frozenset[str] = frozenset()
    """blocks of which none may stand within FAR blocks of the spawn point"""


class Outcome(NamedTuple):
    """One run: whether it was done, after how many ticks it ended, whether the executor ended it, alive."""

    done: bool
    ticks: int
    gave_up: bool
    alive: bool


def holding(*items: str, count: int = 1) -> Callable[[Observation], bool]:
    """At least `count` of `items` together."""
    return lambda seen: sum(seen.inventory.get(item, 0) for item in items) >= count


def goal(kind: str, target: str | None, count: int = 1, *checks: Check, words: str = "") -> Subgoal:
    """A subgoal as a planner would write it."""
    return Subgoal("bench", words or f"{kind} {target}", kind, target, count=count, checks=checks)


def rows(domain: Domain) -> list[Row]:
    """What is measured."""
    logs = sorted(domain.expand("#logs"))
    deep = {"iron": 40.0, "diamond": 12.0}
    stack = {"stone_pickaxe": 2}
    return [
        Row("mine 1 log", goal("mine", "#logs"), 60, {}, holding(*logs)),
        Row(
            "mine 1 log, 12 blocks off and more",
            goal("mine", "#logs"),
            60,
            {},
            holding(*logs),
            frozenset(logs),
        ),
        Row("mine 4 logs", goal("mine", "#logs", 4), 90, {}, holding(*logs, count=4)),
        Row("mine a sapling", goal("mine", "#saplings"), 120, {}, holding(*domain.expand("#saplings"))),
        Row(
            "craft a pickaxe, table held, not placed",
            goal("craft", "wooden_pickaxe"),
            30,
            {"oak_planks": 3, "stick": 2, "crafting_table": 1},
            holding("wooden_pickaxe"),
        ),
        Row(
            "place a table",
            goal("use", "crafting_table", words="place the crafting table"),
            30,
            {"crafting_table": 1},
            lambda seen: not seen.inventory.get("crafting_table"),
        ),
        Row(
            "mine 8 cobblestone",
            goal("mine", "cobblestone", 8),
            120,
            {"wooden_pickaxe": 1},
            holding("cobblestone", count=8),
        ),
        Row(
            "mine iron ore at y <= 40",
            goal("mine", "iron_ore", 1, Check(type="ypos_le", value=deep["iron"])),
            300,
            stack,
            holding("iron_ore"),
        ),
        Row("mine iron ore, no depth named", goal("mine", "iron_ore"), 300, stack, holding("iron_ore")),
        Row(
            "mine a diamond at y <= 12",
            goal("mine", "diamond", 1, Check(type="ypos_le", value=deep["diamond"])),
            600,
            {"iron_pickaxe": 4},
            holding("diamond"),
        ),
        Row(
            "dig down to y 30",
            goal("move", None, 1, Check(type="ypos_le", value=30.0)),
            240,
            stack,
            lambda seen: seen.y <= 30.0,
        ),
        Row("kill a cow", goal("combat", "cow"), 120, {}, holding("leather", "beef")),
        Row("kill a sheep", goal("combat", "sheep"), 120, {}, holding("mutton", "white_wool")),
        Row("find carrots", goal("mine", "carrots"), 240, {}, holding("carrot")),
        Row(
            "trade with a villager",
            goal("use", "villager", words="trade with a villager"),
            240,
            {"coal": 15},
            holding("iron_ingot"),
        ),
    ]


def attempt(
    world: TechTree, policy: Executor, subgoal: Subgoal, seen: Observation, limit: int
) -> Observation:
    """Runs a subgoal until the executor ends it or `limit` ticks have passed; the last observation."""
    policy.start(subgoal, seen)
    end = seen.tick + limit
    while seen.alive and seen.tick < end:
        move = policy.act(seen)
        if move is None:
            break
        seen = world.step(move.action, min(move.ticks, end - seen.tick)).observation
    return seen


def opened(world: TechTree, seed: int, row: Row) -> Observation:
    """A new world as the row wants it."""
    seen = world.reset(seed)
    for item, count in row.pack.items():
        world.play.pack.add(item, count)
    if row.far:
        x, y, z = int(seen.x), int(seen.y), int(seen.z)
        around = range(-FAR - 1, FAR + 2)
        for cell in ((x + dx, y + dy, z + dz) for dx in around for dz in around for dy in range(-12, 16)):
            if world.play.inside(cell) and world.play.block(cell) in row.far:
                world.play.put(cell, "air")
    return world.step(Action()).observation if row.pack or row.far else seen


def run(world: TechTree, domain: Domain, row: Row, seeds: Sequence[int]) -> list[Outcome]:
    """The row on every seed."""
    outcomes = []
    for seed in seeds:
        limit = row.limit_s * TICKS_PER_SECOND
        first = opened(world, seed, row)
        seen = attempt(world, executor("scripted", domain, seed), row.goal, first, limit)
        ticks = seen.tick - first.tick
        outcomes.append(Outcome(row.holds(seen), ticks, ticks < limit, seen.alive))
    return outcomes


def second_tries(world: TechTree, domain: Domain, seeds: Sequence[int]) -> dict[str, list[Outcome]]:
    """For the seeds on which a far log isn't got: the same again at once, and after what a remedy may say."""
    row = next(each for each in rows(domain) if each.far)
    limit = row.limit_s * TICKS_PER_SECOND
    between = {
        "far log, after a failure: tried again": None,
        "far log, after a failure: way cleared": goal("move", None, 1, CLEAR, words="clear blocking block"),
        "far log, after a failure: another route": goal("move", None, words="take another route"),
    }
    found: dict[str, list[Outcome]] = {name: [] for name in between}
    for name, repair in between.items():
        for seed in seeds:
            policy = executor("scripted", domain, seed)
            seen = attempt(world, policy, row.goal, opened(world, seed, row), limit)
            if row.holds(seen) or not seen.alive:
                continue
            started = seen.tick
            if repair is not None:
                seen = attempt(world, policy, repair, seen, limit)
            seen = attempt(world, policy, row.goal, seen, limit)
            found[name].append(Outcome(row.holds(seen), seen.tick - started, True, seen.alive))
    return found


def main(seeds: int = SEEDS) -> None:
    """Measures and prints the table."""
    domain = load_domain("minecraft")
    world = TechTree(domain)
    numbers = range(FIRST_SEED, FIRST_SEED + seeds)
    world.reset(FIRST_SEED)
    world.step(Action())
    started, ticks = time.perf_counter(), 0
    table = Table(
        title=f"executor scripted in techtree, seeds {numbers[0]} to {numbers[-1]}; ticks: median of the done"
    )
    for heading in ("subgoal", "done", "95 %", "ticks", "gave up", "time over", "died"):
        table.add_column(heading, justify="left" if heading == "subgoal" else "right")
    for row in rows(domain):
        outcomes = run(world, domain, row, numbers)
        ticks += sum(each.ticks for each in outcomes)
        table.add_row(row.title, *_figures(outcomes))
    table.add_section()
    for name, outcomes in second_tries(world, domain, numbers).items():
        table.add_row(name, *_figures(outcomes))
    Console().print(table)
    seconds = time.perf_counter() - started
    print(f"first part and second tries: {seconds:.1f} s; {ticks:,} ticks in the first part")


def _figures(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    if not outcomes:
        return ("0/0", "", "", "", "", "")
    done = [each for each in outcomes if each.done]
    failed = [each for each in outcomes if not each.done]
    interval = binomtest(len(done), len(outcomes)).proportion_ci(method="wilson")
    return (
        f"{len(done)}/{len(outcomes)}",
        f"{100 * interval.low:.0f}-{100 * interval.high:.0f} %",
        f"{median(each.ticks for each in done):,.0f}" if done else "",
        str(sum(each.gave_up and each.alive for each in failed)),
        str(sum(not each.gave_up and each.alive for each in failed)),
        str(sum(not each.alive for each in failed)),
    )


def command(seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = SEEDS) -> None:
    """How often the scripted executor does what basic subgoals ask for."""
    main(seeds)


if __name__ == "__main__":
    typer.run(command)
