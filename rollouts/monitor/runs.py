"""Ticks sorted by (episode_id, tick), seen as one run of rows per attempt.

Measuring an attempt means reducing its run. Grouping by string keys, or by a run number on every row, costs
more than the measures themselves; the row numbers at which attempts begin are enough, and let a column be
read as one list per attempt without copying it.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import polars as pl
import pyarrow as pa

KEY: Final = ["episode_id", "attempt"]


def attempt_starts(ticks: pl.DataFrame) -> pl.Series:
    """For each row, whether an attempt begins there."""
    attempt, tick, episode = pl.col("attempt"), pl.col("tick"), pl.col("episode_id")
    begins = ticks.select(
        begins=((attempt != attempt.shift(1)) | (tick <= tick.shift(1))).fill_null(True)
    ).to_series()
    # Two episodes that meet without a change of attempt or a step back in time are rare, and comparing ids
    # is the dearest of the three. Episodes are sorted: a run holds two of them only if its ends differ.
    firsts = begins.arg_true()
    lasts = (firsts.shift(-1, fill_value=ticks.height).cast(pl.Int64) - 1).cast(pl.UInt32)
    ids = ticks["episode_id"]
    if (ids.gather(firsts) == ids.gather(lasts)).all():
        return begins
    return begins | ticks.select((episode != episode.shift(1)).fill_null(True)).to_series()


def bounds(begins: pl.Series) -> list[int]:
    """The row numbers at which attempts begin, and the number of rows."""
    return [*begins.arg_true().to_list(), len(begins)]


def as_lists(columns: pl.DataFrame, edges: list[int]) -> pl.DataFrame:
    """One row per attempt: each column's values of that attempt as a list, without a copy."""
    offsets = pa.array(edges, pa.int64())
    return pl.DataFrame(
        [
            pl.Series(column.name, pa.LargeListArray.from_arrays(offsets, column.rechunk().to_arrow()))
            for column in columns
        ]
    )


def keys(ticks: pl.DataFrame, edges: list[int]) -> pl.DataFrame:
    """(episode_id, attempt) of each attempt, in order."""
    return ticks.select(KEY)[edges[:-1]]


def whole_attempts(batches: Iterable[pl.DataFrame], enough: int) -> Iterator[pl.DataFrame]:
    """The same rows in frames that hold whole attempts, whatever rows the batches were cut at.

    The first and the last attempt of a batch may be cut: their rows are set aside (copied, so that the batch
    can be freed) and come together in a frame of their own, of about `enough` rows.
    """
    aside: list[pl.DataFrame] = []
    for batch in batches:
        edges = bounds(attempt_starts(batch))
        if len(edges) < 3:
            aside.append(batch)
            continue
        first, last = edges[1], edges[-2]
        aside.append(_copied(batch.slice(0, first)))
        if sum(frame.height for frame in aside) >= enough:
            yield pl.concat(aside, rechunk=True)
            aside = []
        if last > first:
            yield batch.slice(first, last - first)
        aside.append(_copied(batch.slice(last)))
    if aside:
        yield pl.concat(aside, rechunk=True)


def _copied(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(pl.all().gather(pl.int_range(pl.len())))
