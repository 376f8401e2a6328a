"""How many episodes a minute the closed loop plays, and in which process the time goes.

    python -m bench.loop

The same fixed batch, one world for each task of the suite, is played twice with the rules stand-in and
without knowledge: all in one process, and with two worker processes that step the worlds. Everything is
stored, as in training. Worker start-up and what numba reads from disk count; compiling does not, since it is
done before. Wall time is of this machine as it is; seconds of processor time compare on a busy one too.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console
from rich.table import Table

from prompts.language_model import LanguageModel, ModelAnswer, ModelRequest, Role
from rollouts.agent import FULL, agent_row
from rollouts.backends import Addressed, Done, Reported, RolloutBackend
from rollouts.exercise import Exercise, hands
from rollouts.protocols import Action
from rollouts.recorder import Batch
from rollouts.rounds import roll_out
from rollouts.worlds.techtree import TechTree
from warehouse.domains import load_domain
from warehouse.suites import DEFAULT_SUITE, find_suite

WORKERS: Final = 2
GOAL_PER_MINUTE: Final = 130.0
"""770 episodes in six minutes on two cores: what the main job plays"""


class Played(NamedTuple):
    """One way of playing the batch, in seconds. `parent` and `workers` are processor time; `model` is the
    part of the parent's in which the stand-in answers, `stepping` the wall time in which the parent waits
    for worlds or steps them itself."""

    workers_used: int
    episodes: int
    wall: float
    parent: float
    workers: float
    model: float
    stepping: float

    @property
    def per_minute(self) -> float:
        return 60.0 * self.episodes / self.wall

    @property
    def cpu_per_episode(self) -> float:
        return (self.parent + self.workers) / self.episodes


@dataclass
class _TimedBackend:
    """A backend, and how long it was waited for."""

    backend: RolloutBackend
    waited: float = field(default=0.0)

    @property
    def side_by_side(self) -> int:
        return self.backend.side_by_side

    @property
    def open_at_once(self) -> int | None:
        return self.backend.open_at_once

    def play(self, orders: Sequence[Addressed]) -> Iterator[Reported]:
        began = time.perf_counter()
        reports = list(self.backend.play(orders))
        self.waited += time.perf_counter() - began
        return iter(reports)

    def finish(self, done: Done) -> None:
        self.backend.finish(done)


@dataclass
class _TimedModel:
    """A model, and the processor time of its answers."""

    model: LanguageModel
    spent: list[float]

    @property
    def name(self) -> str:
        return self.model.name

    def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
        began = time.process_time()
        answers = self.model.generate(requests)
        self.spent.append(time.process_time() - began)
        return answers


def measure(
    home: Path, groups: Sequence[str] = (), per_group: int | None = None, horizon_cap: int | None = None
) -> list[Played]:
    """Plays the batch without and with workers, below `home`. `groups`, tasks per group and the horizon can
    be cut, for small runs. `RuntimeError` if both ways did not store the same."""
    compile_kernels()
    ways = [_played(home / str(workers), workers, groups, per_group, horizon_cap) for workers in (0, WORKERS)]
    if stored(home / "0") != stored(home / str(WORKERS)):
        raise RuntimeError(f"the number of processes shows in what is stored below {home}")
    return ways


def compile_kernels() -> None:
    """Lets numba compile what is not on disk yet."""
    world = TechTree(load_domain("minecraft"))
    world.reset(0)
    world.step(Action(forward=1, use=True))


def _played(
    home: Path, workers: int, groups: Sequence[str], per_group: int | None, horizon_cap: int | None
) -> Played:
    domain = load_domain("minecraft")
    suite = find_suite(DEFAULT_SUITE, domain)
    row = agent_row(FULL)
    exercises = []
    for group in groups or suite.groups:
        tasks = [task.id for task in suite.tasks if task.group == group][:per_group]
        exercises.append(
            Exercise.of_group(domain, suite, group, tasks, row, episodes=1, horizon_cap=horizon_cap)
        )
    batches = [Batch(home, "bench", exercise.training("bench", None)) for exercise in exercises]
    crew = exercises[0].crew(())
    model, spent = crew.model, list[float]()
    timed = replace(crew, model=_remembered(model, spent))
    own, theirs = _cpu(resource.RUSAGE_SELF), _cpu(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    with hands(domain, row, workers) as pool:
        backend = _TimedBackend(pool)
        roll_out(batches, backend, timed, f"{workers} workers")
    return Played(
        workers_used=workers,
        episodes=sum(len(exercise.tasks) for exercise in exercises),
        wall=time.perf_counter() - began,
        parent=_cpu(resource.RUSAGE_SELF) - own,
        workers=_cpu(resource.RUSAGE_CHILDREN) - theirs,
        model=sum(spent),
        stepping=backend.waited,
    )


def _remembered(
    model: Callable[[Role, int], LanguageModel], spent: list[float]
) -> Callable[[Role, int], LanguageModel]:
    """The same models, timed; one for all questions to the same, so that it is asked once a round."""

    @cache
    def of_seed(planner_seed: int) -> LanguageModel:
        return _TimedModel(model("planner", planner_seed), spent)

    return lambda role, planner_seed: of_seed(planner_seed)


def _cpu(of: int) -> float:
    used = resource.getrusage(of)
    return used.ru_utime + used.ru_stime


def stored(home: Path) -> list[tuple[str, bytes]]:
    """The manifests of what was played below a home, which name every file by its content."""
    manifests = sorted((home / "rollouts").rglob("manifest.json"))
    return [(str(path.relative_to(home)), path.read_bytes()) for path in manifests]


def report(ways: Sequence[Played]) -> Table:
    """The figures as a table, a way of playing in each column."""
    first = ways[0]
    figures: dict[str, Callable[[Played], str]] = {
        "wall s": lambda way: f"{way.wall:.1f}",
        "  stepping worlds, or waiting for them": lambda way: f"{way.stepping:.1f}",
        "CPU s, parent": lambda way: f"{way.parent:.1f}",
        "  of it the stand-in's answers": lambda way: f"{way.model:.1f}",
        "CPU s, workers": lambda way: f"{way.workers:.1f}",
        "CPU s per episode": lambda way: f"{way.cpu_per_episode:.2f}",
        "times as fast as one process": lambda way: f"{first.wall / way.wall:.2f}",
        "episodes per minute": lambda way: f"{way.per_minute:.0f}",
        f"goal: {GOAL_PER_MINUTE:.0f} per minute": lambda way: (
            ("met" if met(way) else "missed") if way.workers_used else ""
        ),
    }
    table = Table(title=f"closed loop: {first.episodes} episodes, stand-in world and planner")
    table.add_column("")
    for way in ways:
        name = f"{way.workers_used} workers" if way.workers_used else "one process"
        table.add_column(name, justify="right")
    for what, told in figures.items():
        table.add_row(what, *map(told, ways))
    return table


def met(way: Played) -> bool:
    """Whether the goal is reached; one process has none."""
    return not way.workers_used or way.per_minute >= GOAL_PER_MINUTE


def main() -> int:
    """Measure and print; 1 if the goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        ways = measure(Path(folder))
    Console().print(report(ways))
    return 0 if all(map(met, ways)) else 1


if __name__ == "__main__":
    sys.exit(main())
