"""From a trace to its feedback rows, eq. 1."""

import polars as pl

from rollouts.monitor.causes import causes
from rollouts.monitor.motion import KEY
from rollouts.monitor.progress import progress
from rollouts.monitor.settings import DEFAULTS, MonitorSettings
from rollouts.monitor.windows import windows
from rollouts.trace import Trace
from warehouse.domains import Domain
from warehouse.ids import derive_id
from warehouse.records import arrange

_STATE = ("health", "hunger", "x", "y", "z")  # sorted by name, as nested fields are


def monitor(trace: Trace, domain: Domain, settings: MonitorSettings = DEFAULTS) -> pl.DataFrame:
    """One feedback row per attempt of `trace`, in the contract's columns and order.

    Every attempt has a row, an attempt without ticks or changes included. Attempts of one episode have to be
    in one trace; traces may be cut between episodes in any way, the rows are the same.
    """
    measured = progress(trace, domain, settings)
    judged = measured.join(
        causes(trace, measured, domain, settings), on=KEY, how="left", maintain_order="left"
    ).join(_net_inventory(trace), on=KEY, how="left", maintain_order="left")
    rows = windows(judged, settings)
    ids = [derive_id("feedback", list(key)) for key in rows.select(KEY).iter_rows()]
    before, after = pl.col("state_before").struct, pl.col("state_after").struct
    moved = pl.concat_list(
        pl.struct(
            pl.lit(name).alias("name"),
            before.field(name).cast(pl.Float64).alias("before"),
            after.field(name).cast(pl.Float64).alias("after"),
        )
        for name in _STATE
    )
    sees_items = pl.col("observes").list.contains("inventory")
    return arrange(
        "feedback",
        rows.with_columns(
            feedback_id=pl.Series(ids, dtype=pl.String),
            z=pl.col("condition"),
            delta_state=pl.when(
                pl.col("state_before").is_not_null() & pl.col("state_after").is_not_null()
            ).then(moved),
            delta_inventory=pl.when(sees_items).then(pl.col("delta_inventory").fill_null([])),
        ),
    )


def _net_inventory(trace: Trace) -> pl.DataFrame:
    """Per attempt the net change of each item, first to last tick, sorted by name; no row without a change."""
    return (
        trace.inventory_changes.group_by([*KEY, pl.col("item").alias("name")])
        .agg(pl.col("delta").sum().alias("count"))
        .filter(pl.col("count") != 0)
        .sort([*KEY, "name"])
        .group_by(KEY, maintain_order=True)
        .agg(delta_inventory=pl.struct("name", pl.col("count").cast(pl.Int32)))
    )
