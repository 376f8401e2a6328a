"""Episodes per minute on each world, with one and with two processes that step it.

    python -m bench.worlds

The same few episodes of one group are played each way and stored, with the stand-in that plans and without
knowledge. Starting is left out, until every process has played something; what an episode needs for itself (a
server, a player) counts. Worlds differ in tasks and rules: only the two rows of one world compare, and the
ratio is of one run. Wall time is of this machine as it is.
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

from rollouts.agent import FULL, agent_row
from rollouts.exercise import Exercise, hands
from rollouts.recorder import Batch
from rollouts.rounds import roll_out
from rollouts.worlds.registry import WORLDS, UnknownWorldError, venue_of, world
from warehouse.domains import load_domain
from warehouse.shards import EPISODES_PER_SHARD
from warehouse.suites import DEFAULT_SUITE, find_suite


class Place(NamedTuple):
    """What is played in a world."""

    domain: str
    group: str
    episodes: int
    """of each task"""


PLAYED: Final = {
    "techtree": Place("minecraft", "wooden", 120),
    "crafter": Place("crafter", "stone", 32),
    "mineflayer": Place("minecraft", "wooden", 16),
}
"""Those that play without the game itself, which minestudio and minerl are."""
TASKS: Final = 2
PROCESSES: Final = (1, 2)
WARM_HORIZON: Final = 20


class Way(NamedTuple):
    """A world played by so many processes; `play_s` is None where it cannot be, and `why` says why."""

    world: str
    processes: int
    episodes: int
    play_s: float | None
    why: str = ""

    @property
    def per_minute(self) -> float | None:
        """Episodes."""
        return None if self.play_s is None else 60.0 * self.episodes / self.play_s


def measure(home: Path, worlds: Sequence[str] = (*PLAYED,), episodes: int | None = None) -> list[Way]:
    """Plays these worlds in all ways, below `home`; `episodes` of each task can be fewer, for small runs."""
    ways = []
    for name in worlds:
        place = PLAYED[name]
        try:
            world(name, load_domain(place.domain), {})
        except UnknownWorldError as error:
            ways.append(Way(name, 0, 0, None, str(error)))
            continue
        for processes in PROCESSES:
            own = home / f"{name}-{processes}"
            ways.append(_played(own, name, place, processes, episodes or place.episodes))
    missing = sorted(set(WORLDS) - set(PLAYED))
    return [*ways, *(Way(name, 0, 0, None, "needs the game itself") for name in missing)]


def _played(home: Path, name: str, place: Place, processes: int, episodes: int) -> Way:
    domain, row = load_domain(place.domain), agent_row(FULL)
    suite, venue = find_suite(DEFAULT_SUITE, domain), venue_of(place.domain, name)
    tasks = [task.id for task in suite.tasks if task.group == place.group][:TASKS]
    exercise = Exercise.of_group(domain, suite, place.group, tasks, row, venue=venue, episodes=episodes)
    batch = Batch(home, "bench", exercise.training("bench", None))
    # A shard for each process.
    short = replace(exercise, episodes=EPISODES_PER_SHARD * processes // len(tasks), horizon_cap=WARM_HORIZON)
    first = Batch(home / "first", "bench", short.training("bench", None)[: EPISODES_PER_SHARD * processes])
    with hands(domain, row, processes, venue=venue) as pool:
        if name != "mineflayer":  # where a process of ours is little beside an episode's own
            roll_out([first], pool, short.crew(()), "starting")
        began = time.perf_counter()
        roll_out([batch], pool, exercise.crew(()), f"{name}, {processes}")
        return Way(name, processes, len(tasks) * episodes, time.perf_counter() - began)


def report(ways: Sequence[Way]) -> Table:
    """The figures as a table, a world and a number of processes in each row."""
    table = Table(title="worlds: few episodes, stand-in planner")
    for heading in ("world", "processes", "episodes", "play s", "episodes per minute", "to one process"):
        table.add_column(heading, justify="left" if heading == "world" else "right")
    for way in ways:
        rate = way.per_minute
        if rate is None:
            continue
        alone = next(each.per_minute for each in ways if each.world == way.world)
        assert alone is not None
        ratio = f"{rate / alone:.2f}"
        table.add_row(
            way.world, str(way.processes), str(way.episodes), f"{way.play_s:.1f}", f"{rate:.1f}", ratio
        )
    return table


def main() -> None:
    """Measure and print; there is no goal."""
    with tempfile.TemporaryDirectory() as folder:
        ways = measure(Path(folder))
    console = Console(width=100)
    console.print(report(ways))
    for way in ways:
        if way.per_minute is None:
            console.print(f"{way.world}: not measured: {way.why}")


if __name__ == "__main__":
    sys.exit(main())
