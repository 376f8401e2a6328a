"""Success rates as they are reported: k of n with a Wilson interval, and two arms on the same seeds."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

import polars as pl
from scipy.stats import binomtest

INFRASTRUCTURE_END: Final = "infrastructure"
PAIRED_BY: Final = ("task_id", "world_seed", "planner_seed", "config_hash")
"""What two episodes have in common that differ in their knowledge alone."""


class Rate(NamedTuple):
    """k successes in n episodes."""

    k: int
    n: int

    @property
    def share(self) -> float | None:
        return self.k / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % Wilson interval; None without an episode."""
        if not self.n:
            return None
        bounds = binomtest(self.k, self.n).proportion_ci(method="wilson")
        return float(bounds.low), float(bounds.high)

    def __str__(self) -> str:
        if self.interval is None:
            return "no episode"
        low, high = self.interval
        return f"{self.k}/{self.n} = {self.k / self.n:.3f} (95 % Wilson {low:.3f} to {high:.3f})"


def success_rate(episodes: pl.DataFrame) -> Rate:
    """How many of these episodes succeeded; those that the infrastructure ended do not count."""
    counted = episodes.filter(pl.col("end_reason") != INFRASTRUCTURE_END)
    return Rate(int(counted["success"].sum()), counted.height)


def end_reasons(episodes: pl.DataFrame) -> pl.DataFrame:
    """(end_reason, episodes), most frequent first."""
    return (
        episodes.group_by(pl.col("end_reason").cast(pl.String))
        .agg(episodes=pl.len().cast(pl.Int64))
        .sort(["episodes", "end_reason"], descending=[True, False])
    )


@dataclass(frozen=True)
class Paired:
    """Two arms on the same seeds, pair by pair. A pair that the infrastructure ended in one arm is in
    neither; `excluded` is how many there are."""

    both: int
    only_frozen: int
    only_empty: int
    neither: int
    excluded: int = 0

    @property
    def n(self) -> int:
        return self.both + self.only_frozen + self.only_empty + self.neither

    @property
    def frozen(self) -> Rate:
        return Rate(self.both + self.only_frozen, self.n)

    @property
    def empty(self) -> Rate:
        return Rate(self.both + self.only_empty, self.n)

    @property
    def p(self) -> float:
        """McNemar's exact test, two-sided, over the pairs that differ; 1 where none does. Descriptive: pairs
        of one task or one planner seed are not independent."""
        differing = self.only_frozen + self.only_empty
        return float(binomtest(self.only_frozen, differing, 0.5).pvalue) if differing else 1.0

    def row(self) -> dict[str, int | float | None]:
        """As columns of a table."""
        row: dict[str, int | float | None] = {"pairs": self.n, "excluded": self.excluded}
        for name, rate in (("empty", self.empty), ("frozen", self.frozen)):
            low, high = rate.interval or (None, None)
            row |= {name: rate.share, f"{name}_k": rate.k, f"{name}_low": low, f"{name}_high": high}
        return row | {"only_frozen": self.only_frozen, "only_empty": self.only_empty, "mcnemar_p": self.p}


def pairs_of(frozen: pl.DataFrame, empty: pl.DataFrame) -> pl.DataFrame:
    """Episodes of both arms side by side, one row per pair: the columns of `PAIRED_BY`, `success` and
    `success_empty`, and `broken` where the infrastructure ended either. One without a counterpart has no row.
    Sorted by what they have in common."""
    columns = [*PAIRED_BY, "success", "end_reason"]
    ends = pl.col("end_reason", "end_reason_empty").cast(pl.String)
    return (
        frozen.select(columns)
        .join(empty.select(columns), on=PAIRED_BY, suffix="_empty")
        .select(
            *PAIRED_BY,
            "success",
            "success_empty",
            broken=pl.any_horizontal(ends == INFRASTRUCTURE_END).fill_null(False),
        )
        .sort(PAIRED_BY)
    )


def counted(pairs: pl.DataFrame) -> Paired:
    """What came of these pairs (`pairs_of`)."""
    whole = pairs.filter(~pl.col("broken"))
    cells = {
        (won, won_empty): whole.filter(
            (pl.col("success") == won) & (pl.col("success_empty") == won_empty)
        ).height
        for won in (True, False)
        for won_empty in (True, False)
    }
    return Paired(
        both=cells[True, True],
        only_frozen=cells[True, False],
        only_empty=cells[False, True],
        neither=cells[False, False],
        excluded=pairs.height - whole.height,
    )


def paired(frozen: pl.DataFrame, empty: pl.DataFrame) -> Paired:
    """Episodes of both arms by task, world seed, planner seed and configuration. One that has no counterpart
    is left out."""
    return counted(pairs_of(frozen, empty))


def together(parts: Iterable[Paired]) -> Paired:
    """All pairs of several groups."""
    cells = ("both", "only_frozen", "only_empty", "neither", "excluded")
    held = list(parts)
    return Paired(**{cell: sum(getattr(part, cell) for part in held) for cell in cells})


def weighted(shares: Iterable[tuple[float | None, int]]) -> float | None:
    """The mean of (share, number of tasks), weighted by the tasks; groups without an episode do not count."""
    known = [(share, tasks) for share, tasks in shares if share is not None]
    total = sum(tasks for _, tasks in known)
    return sum(share * tasks for share, tasks in known) / total if total else None
