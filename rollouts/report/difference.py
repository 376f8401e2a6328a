"""An interval for the difference between two arms on the same seeds: tasks and planner seeds, resampled.

Pairs of one task, or of one planner seed, resemble one another, so pairs are not what is drawn anew: tasks
are (within their group) and planner seeds are, crossed, and every pair of a drawn task with a drawn seed
counts. `scipy.stats.bootstrap` knows no crossed factors."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
import polars as pl

RESAMPLES: Final = 4000
LEVEL: Final = 0.95
_SEED: Final = 20_240_229  # any number: the interval has to be the same for the same data


class Interval(NamedTuple):
    """A percentile interval. `over` says what was drawn anew."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:+.3f} to {self.high:+.3f}"


def interval_of_difference(pairs: pl.DataFrame, tasks: Mapping[str, int]) -> Interval | None:
    """The 95 % interval of the mean of frozen − empty over `pairs` (columns group, task_id, planner_seed,
    success, success_empty), the mean over groups weighted by `tasks`. With one planner seed tasks alone are
    drawn; None where a group has a single task as well, or no pair at all."""
    rng = np.random.default_rng(_SEED)
    own = pairs.filter(pl.col("group").is_in(list(tasks)))
    seeds = own["planner_seed"].unique().sort()
    drawn_seeds = (
        rng.multinomial(len(seeds), np.full(len(seeds), 1 / len(seeds)), RESAMPLES)
        if len(seeds) > 1
        else np.ones((RESAMPLES, len(seeds)))
    )
    total = np.zeros(RESAMPLES)
    weight = np.zeros(RESAMPLES)
    varies = len(seeds) > 1
    for group, of_tasks in tasks.items():
        sums, counts = _grid(own.filter(pl.col("group") == group), seeds)
        if not counts.sum():
            continue
        n = counts.shape[0]
        varies |= n > 1
        drawn = rng.multinomial(n, np.full(n, 1 / n), RESAMPLES)
        pairs_drawn = np.einsum("rt,ts,rs->r", drawn, counts, drawn_seeds)
        difference = np.einsum("rt,ts,rs->r", drawn, sums, drawn_seeds)
        # A draw that meets no pair of a group (possible where the grid has holes) says nothing of it.
        met = pairs_drawn > 0
        total[met] += of_tasks * difference[met] / pairs_drawn[met]
        weight[met] += of_tasks
    if not varies or not weight.any():
        return None
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(total[weight > 0] / weight[weight > 0], [tail, 1 - tail])
    return Interval(float(low), float(high))


def _grid(pairs: pl.DataFrame, seeds: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """Sums of frozen − empty and numbers of pairs, tasks × planner seeds."""
    cells = pairs.group_by("task_id", "planner_seed").agg(
        total=(pl.col("success").cast(pl.Int64) - pl.col("success_empty").cast(pl.Int64)).sum(),
        pairs=pl.len().cast(pl.Int64),
    )
    whole = (
        pairs.select("task_id")
        .unique()
        .join(pl.DataFrame({"planner_seed": seeds}), how="cross")
        .join(cells, on=["task_id", "planner_seed"], how="left")
        .sort("task_id", "planner_seed")
        .fill_null(0)
    )
    shape = (-1, max(len(seeds), 1))
    return whole["total"].to_numpy().reshape(shape), whole["pairs"].to_numpy().reshape(shape)
