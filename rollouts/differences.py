"""How much more often frozen knowledge succeeds than the empty store, and how sure that is.

The figure is the difference of the success shares of the two arms, pair by pair on the same task, world and
planner seed. Within a group of tasks it is pooled over the pairs; over several groups it is the mean of the
groups' differences, weighted by their tasks:

    D_g = (wins with - wins without) / pairs,  both over the pairs of group g
    D   = sum_g T_g D_g / sum_g T_g,           T_g tasks in group g

Pairs are not independent: those of one task share what the task asks, those of one planner seed its
misconceptions. So whole tasks and whole planner seeds are drawn again, not pairs: a two-way bootstrap. A
replicate draws as many planner seeds as there are, with replacement, and in every group as many tasks as it
has; a pair counts as often as its task was drawn times as often as its planner seed was. Worlds go with their
task. The interval is from the 2.5th to the 97.5th percentile of the replicates.

scipy.stats.bootstrap does not know such a crossed design: it draws the entries of one axis, all independent,
or whole vectors that stay together. So the drawing is our own; it is one matrix product per figure.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

REPLICATES: Final = 10_000
LEVELS: Final = (0.025, 0.975)
BOTH: Final = "planner seeds and tasks"
TASKS: Final = "tasks"
PLANNERS: Final = "planner seeds"

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Difference(NamedTuple):
    """Share of successes with frozen knowledge minus that without, -1 to 1, with its 95 % interval.

    `share` is None without a pair. `low` and `high` are None where there is nothing to draw again, one task
    and one planner seed; `drawn` says what was: `BOTH`, `TASKS` or `PLANNERS`, or "" where nothing was.
    """

    share: float | None
    low: float | None = None
    high: float | None = None
    drawn: str = ""

    def __str__(self) -> str:
        if self.share is None:
            return "no pair"
        if self.low is None or self.high is None:
            return f"{self.share:+.3f} (no interval: one task and one planner seed)"
        return f"{self.share:+.3f} (95 % bootstrap over {self.drawn} {self.low:+.3f} to {self.high:+.3f})"


class _Cells(NamedTuple):
    """Sums over the worlds of each task and planner seed."""

    gains: Floats
    """(tasks, planner seeds): successes with minus successes without"""
    pairs: Floats
    """(tasks, planner seeds): pairs"""
    groups: Integers
    """(tasks,): the group of each, from 0"""
    weights: Floats
    """(groups,): tasks that each counts as"""

    @property
    def tasks(self) -> Integers:
        """(groups,): tasks in each."""
        return np.bincount(self.groups)


def difference(
    pairs: pl.DataFrame,
    tasks: Mapping[str, int] | None = None,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Difference:
    """The difference over these pairs and its interval.

    `pairs` are rows of `rates.pairs_of`, with a column `group` where they are of several groups; `tasks` is
    the number of tasks that each group counts as, by default those that have a pair. Broken pairs are left
    out. The same pairs and seed give the same interval, whatever the order of the rows.
    """
    whole = pairs.filter(~pl.col("broken"))
    if whole.is_empty():
        return Difference(None)
    cells = _cells(whole if "group" in whole.columns else whole.with_columns(group=pl.lit("")), tasks)
    seeds = cells.gains.shape[1]
    (share,) = _shares(cells, np.ones((1, len(cells.groups))), np.ones((1, seeds)))
    several_tasks = bool((cells.tasks > 1).any())
    drawn = BOTH if several_tasks and seeds > 1 else TASKS if several_tasks else PLANNERS if seeds > 1 else ""
    if not drawn:
        return Difference(float(share))
    source = np.random.default_rng(seed)
    of_tasks = _drawn_tasks(source, cells, replicates)
    of_seeds = _drawn(source, seeds, replicates) if seeds > 1 else np.ones((replicates, 1))
    low, high = np.nanquantile(_shares(cells, of_tasks, of_seeds), LEVELS)
    return Difference(float(share), float(low), float(high), drawn)


def by_planner(pairs: pl.DataFrame) -> pl.DataFrame:
    """(planner_seed, pairs, difference, low, high): the difference of each planner seed alone, its interval
    over tasks; sorted."""
    rows = []
    for planner_seed in pairs["planner_seed"].unique().sort():
        own = pairs.filter(pl.col("planner_seed") == planner_seed)
        found = difference(own)
        figures = {"difference": found.share, "low": found.low, "high": found.high}
        rows.append({"planner_seed": planner_seed, "pairs": own.filter(~pl.col("broken")).height, **figures})
    schema = {"planner_seed": pl.Int64, "pairs": pl.Int64}
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(("difference", "low", "high"), pl.Float64))


def _cells(whole: pl.DataFrame, tasks: Mapping[str, int] | None) -> _Cells:
    summed = (
        whole.group_by("group", "task_id", "planner_seed")
        .agg(
            gain=(pl.col("success").cast(pl.Int64) - pl.col("success_empty").cast(pl.Int64)).sum(),
            pairs=pl.len().cast(pl.Int64),
        )
        .with_columns(
            at=pl.struct("group", "task_id").rank("dense").cast(pl.Int64) - 1,
            to=pl.col("planner_seed").rank("dense").cast(pl.Int64) - 1,
            part=pl.col("group").rank("dense").cast(pl.Int64) - 1,
        )
    )
    at, to = summed["at"].to_numpy(), summed["to"].to_numpy()
    gains = np.zeros((int(at.max()) + 1, int(to.max()) + 1))
    pairs, groups = np.zeros_like(gains), np.zeros(len(gains), dtype=np.int64)
    gains[at, to] = summed["gain"].to_numpy()
    pairs[at, to] = summed["pairs"].to_numpy()
    groups[at] = summed["part"].to_numpy()
    own = [1 if tasks is None else tasks[group] for group in whole["group"].unique().sort()]
    weights = np.array(own, dtype=np.float64) * (np.bincount(groups) if tasks is None else 1)
    return _Cells(gains, pairs, groups, weights)


def _drawn(source: np.random.Generator, of: int, replicates: int) -> Floats:
    """(replicates, of): how often each of so many was drawn."""
    return source.multinomial(of, np.full(of, 1 / of), size=replicates).astype(np.float64)


def _drawn_tasks(source: np.random.Generator, cells: _Cells, replicates: int) -> Floats:
    """(replicates, tasks): how often each task was drawn among those of its group."""
    weights = np.empty((replicates, len(cells.groups)))
    for group, tasks in enumerate(cells.tasks):
        weights[:, cells.groups == group] = _drawn(source, int(tasks), replicates)
    return weights


def _shares(cells: _Cells, of_tasks: Floats, of_seeds: Floats) -> Floats:
    """(replicates,): D of each; a group whose drawn cells hold no pair does not count in that replicate, and
    where none does D is not a number."""
    member = (cells.groups[:, None] == np.arange(len(cells.tasks))).astype(np.float64)
    gains = (of_tasks * (of_seeds @ cells.gains.T)) @ member
    pairs = (of_tasks * (of_seeds @ cells.pairs.T)) @ member
    weights = np.where(pairs > 0, cells.weights, 0)
    own = np.divide(gains, pairs, out=np.zeros_like(gains), where=pairs > 0)
    total = weights.sum(axis=1)
    shares: Floats = np.divide(
        (own * weights).sum(axis=1), total, out=np.full(len(total), np.nan), where=total > 0
    )
    return shares
