"""What a trace's ticks show, in as many rows as there is something to tell: all of Monitor that touches ticks.

Everything after this works on attempts, messages and changes. So millions of ticks are looked at once, piece
by piece, and forgotten.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, NamedTuple, Self

import polars as pl

from rollouts.monitor.motion import AXES, motion
from rollouts.monitor.runs import KEY, attempt_starts, whole_attempts
from rollouts.monitor.settings import MonitorSettings
from warehouse.domains import Domain
from warehouse.records import empty

NEEDED: Final = (*KEY, "tick", *AXES, "health", "hunger", "alive", "equipped", "gui", "action")
BATCH_ROWS: Final = 500_000  # large enough for what a call costs, small enough to hold several in memory


class Watched(NamedTuple):
    """What the ticks show."""

    motion: pl.DataFrame
    """One row per attempt that has ticks: see `motion`."""
    screens: pl.DataFrame
    """One row per stretch of the same GUI staying open: KEY, `opened`, `seen_open` (its first and last tick)
    and `to_end` (was it open at the attempt's last tick)."""
    deaths: pl.DataFrame
    """One row per sign of death: KEY, `tick`, `tick_before`, `dead` (alive = false; else a jump of both to
    their spawn values), `health_before`, `hunger_before`."""
    equipment: pl.DataFrame
    """One row per change of what is held in hand: KEY, `tick`, `equipped`."""

    @classmethod
    def joined(cls, parts: list[Self]) -> Self:
        """The parts' rows one after the other."""
        return cls(*(pl.concat(frames, rechunk=True) for frames in zip(*parts, strict=True)))


def watch(ticks: pl.DataFrame, domain: Domain, settings: MonitorSettings) -> Watched:
    """What these ticks show; sorted by (episode_id, tick), attempts whole."""
    ticks = ticks.rechunk()
    begins = attempt_starts(ticks)
    marked = ticks.lazy().with_columns(begins=begins)
    screens, deaths, equipment = pl.collect_all(
        [_screens(marked), _deaths(marked, domain), _equipment(marked)], engine="in-memory"
    )
    return Watched(motion(ticks, settings), screens, deaths, equipment)


def watch_pieces(pieces: Iterable[pl.LazyFrame], domain: Domain, settings: MonitorSettings) -> Watched:
    """`watch` of ticks that are read a batch at a time, a few batches in memory at once.

    Each piece is sorted by (episode_id, tick), and no attempt is in two of them. Polars works through a small
    expression on one thread, so as many batches as it has threads are looked at side by side.
    """
    workers = pl.thread_pool_size()
    seen = [watch(empty("ticks").select(NEEDED), domain, settings)]
    with ThreadPoolExecutor(workers) as pool:
        running: deque[Future[Watched]] = deque()
        for batch in whole_attempts(_batches(pieces), BATCH_ROWS):
            if len(running) == workers:
                seen.append(running.popleft().result())
            running.append(pool.submit(watch, batch, domain, settings))
        seen.extend(future.result() for future in running)
    return Watched.joined(seen)


def _batches(pieces: Iterable[pl.LazyFrame]) -> Iterator[pl.DataFrame]:
    for piece in pieces:
        needed = piece.select(NEEDED)
        rows = piece.select(pl.len()).collect().item()
        for start in range(0, rows, BATCH_ROWS):
            yield needed.slice(start, BATCH_ROWS).collect()


def _screens(ticks: pl.LazyFrame) -> pl.LazyFrame:
    gui, begins = pl.col("gui").to_physical(), pl.col("begins")
    opens = begins | gui.ne_missing(gui.shift(1))
    last_of_attempt = begins.shift(-1, fill_value=True)
    ends = last_of_attempt | gui.ne_missing(gui.shift(-1))
    # A stretch's first row and its last follow each other among the rows that are kept.
    return (
        ticks.select(*KEY, "tick", "gui", opens=opens, ends=ends, last=last_of_attempt)
        .filter((pl.col("opens") | pl.col("ends")) & (pl.col("gui") != "none"))
        .select(
            *KEY,
            "opens",
            opened=pl.col("tick"),
            seen_open=pl.when("ends").then("tick").otherwise(pl.col("tick").shift(-1)),
            to_end=pl.when("ends").then("last").otherwise(pl.col("last").shift(-1)),
        )
        .filter("opens")
        .drop("opens")
    )


def _deaths(ticks: pl.LazyFrame, domain: Domain) -> pl.LazyFrame:
    health, hunger = pl.col("health"), pl.col("hunger")
    dead = (pl.col("alive") == False).fill_null(False)  # noqa: E712  (null is neither)
    reborn = (
        ~pl.col("begins")
        & (health == domain.spawn_health)
        & (hunger == domain.spawn_hunger)
        & (health.shift(1) < domain.spawn_health)
        & (hunger.shift(1) < domain.spawn_hunger)
    ).fill_null(False)
    return (
        ticks.select(
            *KEY,
            "tick",
            tick_before=pl.col("tick").shift(1),
            dead=dead,
            health_before=health.shift(1),
            hunger_before=hunger.shift(1),
            shown=dead | reborn,
        )
        .filter("shown")
        .drop("shown")
    )


def _equipment(ticks: pl.LazyFrame) -> pl.LazyFrame:
    equipped = pl.col("equipped")
    return ticks.filter(pl.col("begins") | (equipped != equipped.shift(1))).select(*KEY, "tick", "equipped")
