"""Episodes per minute with one and with two processes that step worlds, of this machine and as Ray's actors.

    python -m bench.backends

The same fixed batch is played each way and stored, and has to be stored the same. Starting is told by itself,
until every process has played something: imports, kernels, and for Ray a whole cluster of this machine's own.
Wall time is of this machine as it is.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console
from rich.table import Table

from bench.loop import compile_kernels, stored
from rollouts.agent import FULL, agent_row
from rollouts.exercise import Exercise, hands
from rollouts.recorder import Batch
from rollouts.rounds import roll_out
from warehouse.domains import load_domain
from warehouse.shards import EPISODES_PER_SHARD
from warehouse.suites import DEFAULT_SUITE, find_suite

GROUP: Final = "stone"
WORLDS: Final = 10
HORIZON: Final = 2400
WARM_HORIZON: Final = 20
CLUSTERS: Final = {"local": None, "ray": "local"}
"""the backend's name -> the cluster's address: with Ray always a new one"""


class Way(NamedTuple):
    """One way of playing the batch."""

    backend: str
    processes: int
    episodes: int
    start_s: float
    play_s: float

    @property
    def per_minute(self) -> float:
        """Starting left out."""
        return 60.0 * self.episodes / self.play_s


def measure(
    home: Path, tasks: Sequence[str] = (), worlds: int = WORLDS, horizon_cap: int = HORIZON
) -> list[Way]:
    """Plays the batch in all ways, below `home`; tasks, worlds and horizon can be cut, for small runs.
    `RuntimeError` if not all stored the same."""
    compile_kernels()
    ways = []
    for backend in CLUSTERS:
        for processes in (1, 2):
            own = home / f"{backend}-{processes}"
            ways.append(_played(own, backend, processes, tasks, worlds, horizon_cap))
            if stored(own) != stored(home / "local-1"):
                raise RuntimeError(f"how it was played shows in what is stored below {own}")
    return ways


def _played(
    home: Path, backend: str, processes: int, tasks: Sequence[str], worlds: int, horizon_cap: int
) -> Way:
    domain = load_domain("minecraft")
    suite = find_suite(DEFAULT_SUITE, domain)
    row = agent_row(FULL)
    wanted = list(tasks) or [task.id for task in suite.tasks if task.group == GROUP]
    exercise = Exercise.of_group(domain, suite, GROUP, wanted, row, episodes=worlds, horizon_cap=horizon_cap)
    batch = Batch(home, "bench", exercise.training("bench", None))
    # A shard for each process.
    short = replace(exercise, episodes=2 * EPISODES_PER_SHARD // len(wanted) + 1, horizon_cap=WARM_HORIZON)
    first = Batch(home / "first", "bench", short.training("bench", None))
    began = time.perf_counter()
    with hands(domain, row, processes, CLUSTERS[backend]) as pool:
        roll_out([first], pool, short.crew(()), "starting")
        started = time.perf_counter()
        roll_out([batch], pool, exercise.crew(()), f"{backend}, {processes}")
        ended = time.perf_counter()
    return Way(backend, processes, len(wanted) * worlds, started - began, ended - started)


def report(ways: Sequence[Way]) -> Table:
    """The figures as a table, a way of playing in each row."""
    table = Table(title=f"backends: {ways[0].episodes} episodes, stand-in world and planner")
    for heading in ("backend", "processes", "start s", "play s", "episodes per minute"):
        table.add_column(heading, justify="left" if heading == "backend" else "right")
    for way in ways:
        figures = (f"{way.start_s:.1f}", f"{way.play_s:.1f}", f"{way.per_minute:.0f}")
        table.add_row(way.backend, str(way.processes), *figures)
    return table


def main() -> None:
    """Measure and print; there is no goal."""
    with tempfile.TemporaryDirectory() as folder:
        ways = measure(Path(folder))
    Console().print(report(ways))


if __name__ == "__main__":
    sys.exit(main())
