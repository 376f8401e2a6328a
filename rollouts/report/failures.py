"""What attempts fail of and how often they stagnate, without knowledge and with the last snapshot's."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from rollouts.evaluation import EMPTY
from rollouts.rates import Rate
from rollouts.report.arms import Arms
from warehouse.vocabulary import FAILURE_TYPES

INFRASTRUCTURE: Final = "INFRASTRUCTURE"
SIDES: Final = ("empty", "frozen")


@dataclass(frozen=True)
class Attempts:
    """The attempts of one arm. `failed` are those that Monitor found unsuccessful; `undecided` are without a
    verdict, `broken` those whose environment failed: neither is success nor failure."""

    attempts: int
    succeeded: int
    failed: int
    undecided: int
    broken: int
    stagnant: Rate
    stagnant_paper: Rate


@dataclass(frozen=True)
class Failures:
    """Of the episodes of counted pairs. `mix`: (failure_type, empty, frozen, empty_share, frozen_share),
    shares of the arm's failed attempts; most frequent first. `ends`: (end_reason, empty, frozen),
    episodes."""

    empty: Attempts
    frozen: Attempts
    mix: pl.DataFrame
    ends: pl.DataFrame


def failures(arms: Arms, judged: pl.DataFrame) -> Failures:
    """Both arms side by side; `judged` as `judged_attempts` gives it."""
    ids = {"empty": arms.whole["episode_id_empty"], "frozen": arms.whole["episode_id"]}
    of_side = {
        side: judged.filter(pl.col("arm") == arm, pl.col("episode_id").is_in(ids[side].implode()))
        for side, arm in zip(SIDES, (EMPTY, arms.last), strict=True)
    }
    mixes = {side: _mix(attempts) for side, attempts in of_side.items()}
    ends = {
        side: arms.episodes.filter(pl.col("episode_id").is_in(ids[side].implode())).select(
            name=pl.col("end_reason").cast(pl.String)
        )
        for side in SIDES
    }
    order = {name: place for place, name in enumerate(FAILURE_TYPES)}
    mix = _side_by_side(mixes, "failure_type").with_columns(
        (pl.col(side) / pl.col(side).sum()).alias(f"{side}_share") for side in SIDES
    )
    return Failures(
        **{side: _attempts(attempts) for side, attempts in of_side.items()},
        mix=mix.with_columns(pl.col(f"{side}_share").fill_nan(None) for side in SIDES).sort(
            pl.col("empty") + pl.col("frozen"),
            pl.col("failure_type").replace_strict(order, default=len(order)),
            descending=[True, False],
        ),
        ends=_side_by_side(ends, "end_reason").sort("end_reason"),
    )


def _mix(attempts: pl.DataFrame) -> pl.DataFrame:
    failed = attempts.filter(pl.col("y").eq_missing(False))
    return failed.select(name=pl.col("failure_type").cast(pl.String).fill_null("not typed"))


def _side_by_side(names: dict[str, pl.DataFrame], column: str) -> pl.DataFrame:
    """How often each name occurs on each side."""
    counted = [
        frame.group_by("name").len().select("name", count=pl.col("len").cast(pl.Int64), side=pl.lit(side))
        for side, frame in names.items()
    ]
    return (
        pl.concat(counted)
        .group_by("name")
        .agg(pl.col("count").filter(pl.col("side") == side).sum().alias(side) for side in SIDES)
        .rename({"name": column})
    )


def _attempts(rows: pl.DataFrame) -> Attempts:
    broken = int(rows["failure_type"].cast(pl.String).eq_missing(INFRASTRUCTURE).sum())
    succeeded, failed = (int(rows["y"].eq_missing(verdict).sum()) for verdict in (True, False))
    return Attempts(
        attempts=rows.height,
        succeeded=succeeded,
        failed=failed,
        undecided=rows.height - succeeded - failed - broken,
        broken=broken,
        stagnant=_share(rows["stagnant"]),
        stagnant_paper=_share(rows["stagnant_paper"]),
    )


def _share(flags: pl.Series) -> Rate:
    known = flags.drop_nulls()
    return Rate(int(known.sum()), len(known))
