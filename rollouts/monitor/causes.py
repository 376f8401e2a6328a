"""The failure cascade: which rows of the failure-type table hold for an attempt, each with its evidence.

`failure_causes` keeps every row that holds, in order of first tick; `failure_type` is the first in cascade
order. A row holds only if something in this attempt met its condition; observations outrank words.
"""

from collections.abc import Callable
from typing import Final

import polars as pl

from rollouts.monitor import observed_causes, stopping
from rollouts.monitor.motion import KEY
from rollouts.monitor.said_causes import said_causes
from rollouts.monitor.settings import MonitorSettings
from rollouts.trace import Trace
from warehouse import vocabulary as v
from warehouse.domains import Domain

Rule = Callable[[Trace, pl.DataFrame, Domain, MonitorSettings], pl.DataFrame]

EVIDENCE: Final = ["tick", "seq", "name", "count", "items", "text"]
COLUMNS: Final = [*KEY, "type", *EVIDENCE]
RULES: Final[tuple[Rule, ...]] = (
    said_causes,
    observed_causes.infrastructure,
    observed_causes.death,
    observed_causes.wrong_tool,
    observed_causes.gui_stall,
    observed_causes.target_not_found,
    observed_causes.target_unreachable,
    observed_causes.stuck,
    observed_causes.no_action,
    observed_causes.timeout,
)
# Without a verdict on success (the task's words name no result) only what went wrong by itself can be told.
UNDECIDED_TYPES: Final = (*v.FAILURE_TYPES[: v.FAILURE_TYPES.index("GUI_STALL")], "NO_ACTION")


def causes(trace: Trace, attempts: pl.DataFrame, domain: Domain, settings: MonitorSettings) -> pl.DataFrame:
    """Per attempt `failure_type`, `failure_causes` and `failure_evidence`, in the attempts' order.

    `attempts` is `progress`'s frame. Successful attempts have type NONE and no causes; attempts without a
    verdict have a type only where one of the hard rows holds.
    """
    order = {name: rank for rank, name in enumerate(v.FAILURE_TYPES)}
    held = [rule(trace, attempts, domain, settings) for rule in RULES]
    found = pl.concat([frame.select(COLUMNS).cast(_SCHEMA) for frame in held])
    found = pl.concat(
        [found, stopping.stopping(trace, attempts, found, domain).select(COLUMNS).cast(_SCHEMA)]
    )
    verdict = attempts.select(*KEY, "y", "end_reason")
    decided = found.join(verdict, on=KEY).filter(
        (pl.col("type") == "INFRASTRUCTURE")
        | ~pl.col("y").fill_null(False)
        & (pl.col("y").is_not_null() | pl.col("type").is_in(list(UNDECIDED_TYPES)))
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
        attempts.select(*KEY, "y", "end_reason")
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


_SCHEMA = {
    "episode_id": pl.String,
    "attempt": pl.Int32,
    "type": pl.String,
    "tick": pl.Int32,
    "seq": pl.Int32,
    "name": pl.String,
    "count": pl.Int32,
    "items": pl.List(pl.Struct({"name": pl.String, "count": pl.Int32})),
    "text": pl.String,
}
