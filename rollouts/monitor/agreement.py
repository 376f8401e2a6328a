"""Monitor against a world's inner truth: which failure type it gave to attempts whose reason the world knows.

Every figure comes from one table of counts (truth, monitor, attempts). The truth is never shown to Monitor.
"""

from dataclasses import dataclass
from typing import Final

import polars as pl
from scipy.stats import binomtest

from rollouts.monitor.runs import KEY
from warehouse.vocabulary import FAILURE_TYPES

FEW: Final = 5
"""attempts; the figures of a class with fewer are marked, as one attempt more or less changes them much"""
GOAL: Final = 0.9
"""macro-F1"""


@dataclass(frozen=True)
class TruthAgreement:
    """How Monitor's failure types agree with the truth, over the attempts that did not succeed."""

    confusion: pl.DataFrame
    """(truth, monitor, attempts): no row for a pair that does not occur; sorted by cascade order"""
    untold: int
    """unsuccessful attempts of which no truth is known; they are in no other figure"""

    @property
    def n(self) -> int:
        """Attempts that were compared."""
        return int(self.confusion["attempts"].sum())

    @property
    def k(self) -> int:
        """Attempts with the same type."""
        return int(self.confusion.filter(pl.col("truth") == pl.col("monitor"))["attempts"].sum())

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % Wilson interval of k / n; None without attempts."""
        if not self.n:
            return None
        bounds = binomtest(self.k, self.n).proportion_ci(method="wilson")
        return float(bounds.low), float(bounds.high)

    @property
    def by_class(self) -> pl.DataFrame:
        """`class_figures` of the counts."""
        return class_figures(self.confusion)

    @property
    def macro_f1(self) -> float | None:
        """The mean F1 over the classes that occur in the truth, each with the same weight, however few its
        attempts are; None without any."""
        return macro_f1(self.by_class)

    @property
    def macro_f1_of_many(self) -> float | None:
        """The same over the classes with at least `FEW` attempts alone."""
        return macro_f1(self.by_class.filter(pl.col("support") >= FEW))

    @property
    def matrix(self) -> pl.DataFrame:
        """The counts as a table: a row per type of the truth, a column per type of Monitor, numbered alike so
        that it stays narrow; null for none."""
        pairs = {(truth, given): count for truth, given, count in self.confusion.iter_rows()}
        names = sorted({name for pair in pairs for name in pair}, key=_RANK.__getitem__)
        rows = [
            {"truth": f"{number:2d} {name}"}
            | {str(column): pairs.get((name, other)) for column, other in enumerate(names, 1)}
            for number, name in enumerate(names, 1)
        ]
        columns = {str(column): pl.Int64() for column in range(1, len(names) + 1)}
        return pl.DataFrame(rows, schema={"truth": pl.String(), **columns})

    @property
    def summary(self) -> str:
        """The figures in two sentences."""
        if not self.n or self.macro_f1 is None or self.interval is None:
            return "no unsuccessful attempt whose truth is known"
        low, high = self.interval
        many = "none" if self.macro_f1_of_many is None else f"{self.macro_f1_of_many:.3f}"
        share = f"{self.k} of {self.n} attempts ({self.k / self.n:.3f}, 95 % Wilson {low:.3f}-{high:.3f})"
        return (
            f"macro-F1 {self.macro_f1:.3f} over the {self._classes} types of the truth, each counted alike "
            f"however few its attempts ({many} over those with at least {FEW}); goal {GOAL:.2f}. The same "
            f"type in {share}."
        )

    @property
    def _classes(self) -> int:
        return self.confusion["truth"].n_unique()


def agreement(feedback: pl.DataFrame, truths: pl.DataFrame) -> TruthAgreement:
    """Monitor's `failure_type` against the truth of scope "attempt", over the attempts with y = false.

    `feedback` and `truths` have (episode_id, attempt, …) as the contract and the recorder have them.
    """
    failed = feedback.filter(~pl.col("y")).select(*KEY, monitor=pl.col("failure_type").cast(pl.String))
    known = truths.filter(pl.col("scope") == "attempt").select(*KEY, truth="failure_type")
    both = failed.join(known, on=KEY, how="left", validate="1:1")
    counts = (
        both.drop_nulls("truth")
        .group_by("truth", "monitor")
        .agg(attempts=pl.len().cast(pl.Int64))
        .sort(pl.col("truth", "monitor").replace_strict(_RANK, return_dtype=pl.Int32))
    )
    return TruthAgreement(counts, both["truth"].null_count())


def class_figures(confusion: pl.DataFrame) -> pl.DataFrame:
    """Per class that occurs on either side: `support` (attempts of that truth), `given` (attempts that
    Monitor gave it to), `hits`, and

        precision = hits / given,  recall = hits / support,  F1 = 2 hits / (support + given)

    Precision is null for a class that Monitor never gave, recall for one that the truth lacks; F1 then is 0,
    which is what the formula says. In cascade order.
    """
    counted = pl.col("attempts").sum()
    support = confusion.group_by(failure_type="truth").agg(support=counted)
    given = confusion.group_by(failure_type="monitor").agg(given=counted)
    hits = confusion.filter(pl.col("truth") == pl.col("monitor")).select(
        failure_type="truth", hits="attempts"
    )
    figures = ("support", "given", "hits")
    return (
        support.join(given, on="failure_type", how="full", coalesce=True)
        .join(hits, on="failure_type", how="left")
        .with_columns(pl.col(figures).fill_null(0))
        .select(
            "failure_type",
            *figures,
            precision=pl.when(pl.col("given") > 0).then(pl.col("hits") / pl.col("given")),
            recall=pl.when(pl.col("support") > 0).then(pl.col("hits") / pl.col("support")),
            f1=2 * pl.col("hits") / (pl.col("support") + pl.col("given")),
        )
        .sort(pl.col("failure_type").replace_strict(_RANK, return_dtype=pl.Int32))
    )


def macro_f1(figures: pl.DataFrame) -> float | None:
    """The mean F1 of `class_figures` over the classes that occur in the truth; None where none does."""
    mean = figures.filter(pl.col("support") > 0)["f1"].mean()
    return mean if isinstance(mean, float) else None


_RANK: Final = {name: rank for rank, name in enumerate(FAILURE_TYPES)}
