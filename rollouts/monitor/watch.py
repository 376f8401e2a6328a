"""What ticks show, in as many rows as there is something to tell: all of Monitor that touches ticks.

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
_MAKING: Final = r"(?:^|\+)(craft|smelt)(?:\+|$)"
BATCH_ROWS: Final = 375_000  # three row groups: enough to be worth a call, few enough to hold several


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
    makings: pl.DataFrame
    """One row per time that a craft or a smelting was asked for: KEY, `tick`, `act` ("craft" or "smelt")."""

    @classmethod
    def joined(cls, parts: list[Self]) -> Self:
        """The parts' rows one after the other."""
        return cls(*(pl.concat(frames, rechunk=True) for frames in zip(*parts, strict=True)))


def watch(ticks: pl.DataFrame, domain: Domain, settings: MonitorSettings) -> Watched:
    """What these ticks show; sorted by (episode_id, tick), attempts whole."""
    ticks = ticks.rechunk()
    begins = attempt_starts(ticks)
    return Watched(
        motion(ticks, begins, settings),
        _screens(ticks, begins),
        _deaths(ticks, begins, domain),
        _equipment(ticks, begins),
        _makings(ticks, begins),
    )


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


def _screens(ticks: pl.DataFrame, begins: pl.Series) -> pl.DataFrame:
    gui = pl.col("gui").to_physical()
    opens = begins | ticks.select(gui.ne_missing(gui.shift(1))).to_series()
    closes = opens.shift(-1, fill_value=True)
    is_open = ticks["gui"] != "none"
    first = ticks.select(*KEY, "tick").filter(opens & is_open)
    last = ticks.select("tick", to_end=begins.shift(-1, fill_value=True)).filter(closes & is_open)
    return first.rename({"tick": "opened"}).hstack(last.rename({"tick": "seen_open"}))


def _deaths(ticks: pl.DataFrame, begins: pl.Series, domain: Domain) -> pl.DataFrame:
    health, hunger = pl.col("health"), pl.col("hunger")
    dead = (pl.col("alive") == False).fill_null(False)  # noqa: E712  (null is neither)
    reborn = (
        (health == domain.spawn_health)
        & (hunger == domain.spawn_hunger)
        & (health.shift(1) < domain.spawn_health)
        & (hunger.shift(1) < domain.spawn_hunger)
    ).fill_null(False) & ~begins
    rows = ticks.select((dead | reborn).arg_true()).to_series().cast(pl.Int64)
    before = ticks.select("tick", "health", "hunger")[(rows - 1).clip(lower_bound=0)]
    return (
        ticks.select(*KEY, "tick", "alive")[rows]
        .hstack(before.select(pl.all().name.suffix("_before")))
        .with_columns(dead=dead)
        .drop("alive")
    )


def _makings(ticks: pl.DataFrame, begins: pl.Series) -> pl.DataFrame:
    action = pl.col("action")
    changed = ticks.select(action.ne_missing(action.shift(1))).to_series() | begins
    rows = changed.arg_true()
    words = ticks["action"].gather(rows)
    asked = words.str.extract(_MAKING)
    made = asked.is_not_null()
    return ticks.select(*KEY, "tick")[rows.filter(made)].with_columns(act=asked.filter(made))


def _equipment(ticks: pl.DataFrame, begins: pl.Series) -> pl.DataFrame:
    equipped = pl.col("equipped")
    changed = ticks.select((equipped != equipped.shift(1)).fill_null(False)).to_series()
    return ticks.select(*KEY, "tick", "equipped").filter(begins | changed)
