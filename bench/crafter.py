"""What recording costs in Crafter: `python -m bench.crafter`.

Random actions, each held for one step, are played twice: in the bare game, as its own `run_random` does, and
through our world, the attempt's log and the recorder, down to the files on the disk. Each step is then an
observation of its own, which is the worst case. Making the worlds counts in neither. Seconds are of this
process's processor time, the best of 3 in turn. Below it, what the loop makes of it, one world for each task
of the suite, with the stand-in that plans, the executor that thinks and Monitor that judges: in this process,
and with two that step the worlds, by the clock on the wall.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import polars as pl
from crafter.env import Env
from rich.console import Console
from rich.table import Table

from rollouts.agent import FULL, agent_row
from rollouts.attempt import Stage, StageKit
from rollouts.budget import CallBudget
from rollouts.exercise import Exercise, hands
from rollouts.protocols import Action, EpisodeSpec, Move, Observation, Subgoal
from rollouts.recorder import AttemptRecord, Batch, Cast, EpisodeRecord
from rollouts.rounds import roll_out
from rollouts.worlds.crafter.game import ACTIONS
from rollouts.worlds.crafter.world import CrafterWorld
from warehouse.domains import load_domain
from warehouse.suites import DEFAULT_SUITE, find_suite

GOAL: Final = 0.8
"""recorded steps per second, as a share of the bare game's"""
EPISODES: Final = 16
STEPS: Final = 500
"""an episode's longest; many die before"""
ROUNDS: Final = 3
WORKERS: Final = (0, 2)
"""processes that step the loop's worlds; 0: this one does"""
DOMAIN: Final = load_domain("crafter")
SUITE: Final = find_suite(DEFAULT_SUITE, DOMAIN)
_YAWS: Final = {"down": 0.0, "left": 90.0, "up": 180.0, "right": -90.0}
_PUT: Final = {"stone": "stone", "plant": "sapling"}


class Looped(NamedTuple):
    """A batch of the loop."""

    workers: int
    episodes: int
    steps: int
    wall_s: float


class Measured(NamedTuple):
    """`bare` and `recorded` are steps per second of processor time, of so many steps."""

    bare: float
    recorded: float
    steps: int
    loops: tuple[Looped, ...]

    @property
    def share(self) -> float:
        """Of the bare game's speed, with recording."""
        return self.recorded / self.bare


class _Script:
    """An executor that does what is written."""

    name = "script"

    def __init__(self, actions: Sequence[Action]) -> None:
        self._moves = [Move(action, 1) for action in actions]

    def start(self, subgoal: Subgoal, observation: Observation) -> None:
        self._left = iter(self._moves)

    def act(self, observation: Observation) -> Move | None:
        return next(self._left, None)


def drawn(seed: int, steps: int) -> list[str]:
    """Names of the game's actions, each as likely as another."""
    return [str(name) for name in np.random.default_rng(seed).choice(sorted(ACTIONS), steps)]


def action_of(name: str) -> Action:
    """The action that our world turns into the game's of this name."""
    verb, _, thing = name.partition("_")
    match verb:
        case "move":
            return Action(forward=1, yaw=_YAWS[thing])
        case "do":
            return Action(attack=True)
        case "sleep":
            return Action(sleep=True)
        case "place" if thing in _PUT:
            return Action(place=_PUT[thing])
        case "place" | "make":
            return Action(craft=thing)
    return Action()


def measure(home: Path, episodes: int = EPISODES, steps: int = STEPS, tasks: Sequence[str] = ()) -> Measured:
    """All figures, from files below `home`; `tasks` are what the loop plays (default: all)."""
    best: dict[str, float] = {}
    for attempt in range(ROUNDS):
        lengths, spent = _recorded(home / str(attempt), episodes, steps)
        for way, seconds in (("recorded", spent), ("bare", _bare(lengths, steps))):
            best[way] = min(seconds, best.get(way, seconds))
    total = sum(lengths)
    loops = tuple(_looped(home / f"{workers} workers", workers, tasks) for workers in WORKERS)
    return Measured(total / best["bare"], total / best["recorded"], total, loops)


def _recorded(home: Path, episodes: int, steps: int) -> tuple[list[int], float]:
    """How long each episode was, and the seconds of playing and storing all."""
    task = SUITE.task("diamond_00")
    specs = [
        EpisodeSpec("bench", "diamond", task.id, task.instruction, "crafter", seed, 0, steps, None, "bench")
        for seed in range(episodes)
    ]
    batch = Batch(home, "bench", specs)
    subgoal = Subgoal("random", "do anything", "wait", None, timeout_s=float(steps))
    lengths, spent = [0] * episodes, 0.0
    for shard in batch.shards:
        records = []
        for spec in shard.specs:
            script = _Script([action_of(name) for name in drawn(spec.world_seed, steps)])
            kit = StageKit(DOMAIN, lambda _, domain: CrafterWorld(domain), lambda *_, own=script: own)
            stage = Stage(spec, task, kit)
            opening = stage.open()
            began = time.process_time()
            run = stage.run(0, subgoal)
            spent += time.process_time() - began
            lengths[spec.world_seed] = run.end_tick
            attempts = (AttemptRecord(run, subgoal, "plan"),)
            cast = Cast("bench", "none", script.name)
            records.append(
                EpisodeRecord(spec, cast, opening.observes, attempts, "plan_exhausted", None, CallBudget())
            )
        began = time.process_time()
        batch.commit(shard, records)
        spent += time.process_time() - began
    return lengths, spent


def _bare(lengths: Sequence[int], steps: int) -> float:
    """The seconds of the same actions in the game by itself."""
    spent = 0.0
    for seed, length in enumerate(lengths):
        env = Env(seed=seed, length=None)
        env.reset()
        actions = [ACTIONS[name] for name in drawn(seed, steps)[:length]]
        began = time.process_time()
        for action in actions:
            env.step(action)
        spent += time.process_time() - began
    return spent


def _looped(home: Path, workers: int, tasks: Sequence[str]) -> Looped:
    row, batches = agent_row(FULL), []
    for group in SUITE.groups:
        wanted = [task.id for task in SUITE.tasks if task.group == group and (not tasks or task.id in tasks)]
        if wanted:
            exercise = Exercise.of_group(DOMAIN, SUITE, group, wanted, row, episodes=1)
            batches.append(Batch(home, "bench", exercise.training("bench", None)))
    began = time.perf_counter()
    with hands(DOMAIN, row, workers) as backend:
        roll_out(batches, backend, exercise.crew(()), f"{workers} workers")
    wall = time.perf_counter() - began
    moves = pl.concat([batch.beside("moves") for batch in batches])
    return Looped(workers, moves["episode_id"].n_unique(), int(moves["ticks"].sum()), wall)


def report(found: Measured) -> Table:
    """The figures as a table."""
    table = Table(title=f"Crafter: {found.steps:,} random steps, best of {ROUNDS}; and the loop")
    for heading in ("what", "steps per s", "of the bare game", f"goal {GOAL}", "episodes per minute"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    table.add_row("bare Crafter", f"{found.bare:,.0f}")
    said = "met" if found.share >= GOAL else "missed"
    table.add_row("with recording", f"{found.recorded:,.0f}", f"{found.share:.2f}", said)
    for loop in found.loops:
        what = f"the loop, {loop.workers} workers" if loop.workers else "the loop, one process"
        per_minute = f"{60 * loop.episodes / loop.wall_s:.0f}"
        table.add_row(what, f"{loop.steps / loop.wall_s:,.0f}", "", "", per_minute)
    return table


def main() -> int:
    """Measure and print; 1 if the goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder))
    Console().print(report(found))
    return 0 if found.share >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
