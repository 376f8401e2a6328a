"""What recording costs in Crafter: `python -m bench.crafter`.

Random actions, each held for one step, are played twice: in the bare game, as its own `run_random` does, and
through our world, the attempt's log and the recorder, down to the files on the disk. Each step is then an
observation of its own, which is the worst case. Making the worlds counts in neither. Below it, what a batch
of the loop makes of it, with the stand-in that plans, the executor that thinks and Monitor that judges.
Seconds are of this process's processor time; of the two that are compared, the best of 3 in turn.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
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
DOMAIN: Final = load_domain("crafter")
SUITE: Final = find_suite(DEFAULT_SUITE, DOMAIN)
_YAWS: Final = {"down": 0.0, "left": 90.0, "up": 180.0, "right": -90.0}
_PUT: Final = {"stone": "stone", "plant": "sapling"}


class Measured(NamedTuple):
    """Steps per second of processor time."""

    bare: float
    recorded: float
    steps: int
    loop: float
    loop_steps: int

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
    return np.random.default_rng(seed).choice(sorted(ACTIONS), steps).tolist()


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
    """All figures, from files below `home`; `tasks` are what the loop plays (default: all of one group)."""
    best: dict[str, float] = {}
    for attempt in range(ROUNDS):
        lengths, spent = _recorded(home / str(attempt), episodes, steps)
        for way, seconds in (("recorded", spent), ("bare", _bare(lengths, steps))):
            best[way] = min(seconds, best.get(way, seconds))
    total = sum(lengths)
    loop_steps, loop_s = _looped(home / "loop", tasks)
    return Measured(total / best["bare"], total / best["recorded"], total, loop_steps / loop_s, loop_steps)


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


def _looped(home: Path, tasks: Sequence[str]) -> tuple[int, float]:
    """Steps and seconds of a batch of the loop, in this process, the worlds' making included."""
    row = agent_row(FULL)
    wanted = list(tasks) or [task.id for task in SUITE.tasks if task.group == "iron"]
    exercise = Exercise.of_group(DOMAIN, SUITE, SUITE.task(wanted[0]).group, wanted, row, episodes=1)
    batch = Batch(home, "bench", exercise.training("bench", None))
    began = time.process_time()
    with hands(DOMAIN, row, 0) as backend:
        roll_out([batch], backend, exercise.crew(()), "bench")
    return int(batch.beside("moves")["ticks"].sum()), time.process_time() - began


def report(found: Measured) -> Table:
    """The figures as a table."""
    table = Table(title=f"Crafter: {found.steps:,} random steps, best of {ROUNDS}")
    for heading in ("what", "steps per CPU second", "of the bare game", f"goal {GOAL}"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    table.add_row("bare Crafter", f"{found.bare:,.0f}", "", "")
    said = "met" if found.share >= GOAL else "missed"
    table.add_row("with recording", f"{found.recorded:,.0f}", f"{found.share:.2f}", said)
    table.add_row(
        f"the loop, {found.loop_steps:,} steps", f"{found.loop:,.0f}", f"{found.loop / found.bare:.2f}", ""
    )
    return table


def main() -> int:
    """Measure and print; 1 if the goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder))
    Console().print(report(found))
    return 0 if found.share >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
