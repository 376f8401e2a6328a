"""The failure cascade: which rows of the failure-type table hold for an attempt, each with its evidence.

`failure_causes` keeps every row that holds, in order of first tick; `failure_type` is the first in cascade
order. A row holds only if something in this attempt met its condition; observations outrank words.
"""

from collections.abc import Iterable
from typing import Final

import polars as pl

from rollouts.monitor import observed_causes, stopping, subgoal_causes
from rollouts.monitor.broken_causes import broken_causes
from rollouts.monitor.case import Case, Rule
from rollouts.monitor.evidence import CAUSES, EVIDENCE
from rollouts.monitor.runs import KEY
from rollouts.monitor.said_causes import said_causes
from rollouts.monitor.settings import MonitorSettings
from rollouts.monitor.tried_causes import tried_causes
from rollouts.monitor.watch import Watched
from rollouts.trace import Trace
from warehouse import vocabulary as v
from warehouse.domains import Domain

RULES: Final[tuple[Rule, ...]] = (
    said_causes,
    observed_causes.infrastructure,
    observed_causes.death,
    subgoal_causes.impossible,
    subgoal_causes.not_carried,
    subgoal_causes.unpaid,
    tried_causes,
    broken_causes,
    observed_causes.gui_stall,
    observed_causes.target_not_found,
    observed_causes.target_unreachable,
    observed_causes.stuck,
    observed_causes.no_action,
    observed_causes.timeout,
)
# Without a verdict on success (the task's words name no result) only what went wrong by itself can be told.
UNDECIDED_TYPES: Final = (*v.FAILURE_TYPES[: v.FAILURE_TYPES.index("GUI_STALL")], "NO_ACTION")


def causes(
    trace: Trace, watched: Watched, attempts: pl.DataFrame, domain: Domain, settings: MonitorSettings
) -> pl.DataFrame:
    """Per attempt `failure_type`, `failure_causes` and `failure_evidence`, in the attempts' order.

    `attempts` is `progress`'s frame; of `trace`, the ticks are not read. Successful attempts have type NONE
    and no causes; attempts without a verdict have a type only where one of the hard rows holds.
    """
    order = {name: rank for rank, name in enumerate(v.FAILURE_TYPES)}
    case = _case(trace, watched, attempts, domain, settings)
    found = _of(rule(case) for rule in RULES)
    found = _of([found, stopping.stopping(case, found)])
    decided = found.join(case.attempts.select(*KEY, "y"), on=KEY).filter(
        pl.col("y").is_not_null() | pl.col("type").is_in(list(UNDECIDED_TYPES))
    )
    first = (
        decided.sort([*KEY, "tick", "seq"], nulls_last=True, maintain_order=True)
        .unique([*KEY, "type"], keep="first", maintain_order=True)
        .with_columns(rank=pl.col("type").replace_strict(order, return_dtype=pl.Int32))
        .sort([*KEY, "tick", "seq", "rank"], nulls_last=True, maintain_order=True)
    )
    gathered = first.group_by(KEY, maintain_order=True).agg(
        failure_causes=pl.struct("type", *EVIDENCE),
        failure_type=pl.col("type").sort_by("rank").first(),
        failure_evidence=pl.struct(EVIDENCE).sort_by("rank").first(),
    )
    return (
        attempts.select(*KEY, "y")
        .join(gathered, on=KEY, how="left", maintain_order="left")
        .select(
            *KEY,
            pl.when(pl.col("y"))
            .then(pl.lit(v.NO_FAILURE))
            .when(pl.col("failure_type").is_not_null())
            .then(pl.col("failure_type"))
            .when(pl.col("y").is_not_null())
            .then(pl.lit("UNKNOWN"))
            .alias("failure_type"),
            pl.col("failure_causes").fill_null([]),
            "failure_evidence",
        )
    )


def _of(parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The causes of several rules, one after the other."""
    some = [part.select(CAUSES.names()).cast(CAUSES) for part in parts if part.height]
    return pl.concat([CAUSES.to_frame(), *some])


def _case(
    trace: Trace, watched: Watched, attempts: pl.DataFrame, domain: Domain, settings: MonitorSettings
) -> Case:
    """The attempts that did not succeed, or whose success is unknown, with what belongs to them."""
    unsuccessful = attempts.filter(~pl.col("y").fill_null(False))
    asked = unsuccessful.select(KEY)

    def of_these(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.join(asked, on=KEY, how="semi", maintain_order="left")

    return Case(
        attempts=unsuccessful,
        events=of_these(trace.events),
        sightings=of_these(trace.sightings),
        inventory_changes=of_these(trace.inventory_changes),
        watched=Watched(*(of_these(frame) for frame in watched)),
        domain=domain,
        settings=settings,
    )
