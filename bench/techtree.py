"""How fast the built-in world is: `python -m bench.techtree`.

Making a world; walking and mining in blocks of ticks, as an executor does, with every tick's columns filled
and an observation after every step; and the same a tick at a time, for comparison. A step of mining ends with
every block that breaks, thing that is picked up and wall that is walked into: with a stone pickaxe after some
7 ticks, by hand after some 40. Seconds are of the processor's time of this process, best of 3, so that a busy
machine measures the same. What numba compiles is compiled before the clock starts, or lies on disk already;
the time of that is printed too.
"""

import sys
import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from rollouts.protocols import Action
from rollouts.worlds.techtree import TechTree
from warehouse.domains import load_domain

GOAL_TICKS: Final = 100_000
"""ticks per second and core, columns included"""
GOAL_MS: Final = 50.0
"""to make a world"""
SEEDS: Final = 20
TICKS: Final = 40_000
ROUNDS: Final = 3


class Measured(NamedTuple):
    """One row: what, its figure and unit, and the goal, if it has one."""

    what: str
    figure: float
    unit: str
    goal: float | None = None

    @property
    def met(self) -> bool:
        """Whether the figure reaches the goal; more is better but for milliseconds."""
        if self.goal is None:
            return True
        return self.figure <= self.goal if self.unit == "ms" else self.figure >= self.goal


def measure() -> list[Measured]:
    """All rows."""
    began = time.perf_counter()
    world = TechTree(load_domain("minecraft"))
    world.reset(0)
    world.step(Action(forward=1, use=True))
    ready_s = time.perf_counter() - began
    made = [_seconds(lambda seed=seed: world.reset(seed)) for seed in range(SEEDS)]
    return [
        Measured("first reset and step (compiles if the sources changed)", 1000 * ready_s, "ms, wall"),
        Measured("make a world, median", 1000 * float(np.median(made)), "ms", GOAL_MS),
        Measured("make a world, slowest", 1000 * max(made), "ms", GOAL_MS),
        Measured("walk in blocks of 20", _rate(world, _walk(20)), "ticks/s", GOAL_TICKS),
        Measured("mine stone by hand", _rate(world, _mine(None)), "ticks/s", GOAL_TICKS),
        Measured(
            "mine stone with a stone pickaxe", _rate(world, _mine("stone_pickaxe")), "ticks/s", GOAL_TICKS
        ),
        Measured("wait in blocks of 200", _rate(world, _wait), "ticks/s", GOAL_TICKS),
        Measured("walk, one tick a step", _rate(world, _walk(1)), "ticks/s"),
    ]


def _rate(world: TechTree, script: Callable[[TechTree], Iterator[int]]) -> float:
    """Ticks per second of a script, which yields how many ticks each of its steps took."""

    def once() -> None:
        passed, steps = 0, script(world)
        while passed < TICKS:
            passed += next(steps)

    rates = []
    for _ in range(ROUNDS):
        world.reset(2)
        rates.append(TICKS / _seconds(once))
    return max(rates)


def _walk(block: int) -> Callable[[TechTree], Iterator[int]]:
    """Ahead, jumping over ledges, another way every seventh step."""

    def script(world: TechTree) -> Iterator[int]:
        while True:
            for turn in range(12):
                for _ in range(140 // block):
                    action = Action(forward=1, jump=True, yaw=float(turn * 150 % 360))
                    yield len(world.step(action, block).ticks["x"])
            # Nobody walks on when drowned in a ravine: back to the start.
            world.play.body["health"] = 20.0

    return script


def _mine(tool: str | None) -> Callable[[TechTree], Iterator[int]]:
    return lambda world: _tunnel(world, tool)


def _tunnel(world: TechTree, tool: str | None) -> Iterator[int]:
    """Tunnels through solid stone: the block before the eyes, the one below it, a step."""
    play = world.play
    play.blocks[:, 14:24, :] = play.catalogue.block["stone"]
    play.pack.add("stone_pickaxe", 30)
    while True:
        for x in range(2, 126, 2):
            play.body["x"], play.body["y"], play.body["z"] = x + 0.5, 16.0, 1.5
            play.put((x, 16, 1), "air")
            play.put((x, 17, 1), "air")
            for _ in range(122):
                for pitch in (0.0, 55.0):
                    action = Action(attack=True, yaw=0.0, pitch=pitch, equip=tool)
                    yield len(world.step(action, 160).ticks["x"])
                yield len(world.step(Action(forward=1), 5).ticks["x"])


def _wait(world: TechTree) -> Iterator[int]:
    while True:
        yield len(world.step(Action(), 200).ticks["x"])


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def report(rows: list[Measured]) -> Table:
    """The figures as a table."""
    table = Table(title=f"techtree: {TICKS:,} ticks, best of {ROUNDS}, {SEEDS} seeds")
    for heading in ("what", "figure", "unit", "goal", "met?"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for row in rows:
        goal = "" if row.goal is None else f"{row.goal:,.0f}"
        met = "" if row.goal is None else ("yes" if row.met else "no")
        table.add_row(row.what, f"{row.figure:,.1f}", row.unit, goal, met)
    return table


def main() -> int:
    """Measure and print; 1 if a goal is missed."""
    rows = measure()
    Console().print(report(rows))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
