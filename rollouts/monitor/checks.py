"""Goal progress, the p_goal of eq. 2: the share of what was asked for that the attempt reached."""

import polars as pl

from rollouts.monitor.runs import KEY
from warehouse.domains import Domain


def goal_progress(attempts: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    """Per attempt `progress_goal` in 0-1: gained/needed for a relative goal; for a planned one the mean over
    its checks, each the share of its bound that the state after the attempt reaches; 1 for a success; null
    where nothing was asked that can be counted."""
    gained = (pl.col("gained") / pl.col("needed")).clip(0, 1)
    return (
        attempts.select(*KEY, "success", "gained", "needed")
        .join(_checked_share(attempts, domain), on=KEY, how="left", maintain_order="left")
        .select(
            *KEY,
            pl.when(pl.col("success"))
            .then(1.0)
            .otherwise(pl.coalesce(gained, pl.col("checked")))
            .alias("progress_goal"),
        )
    )


def _checked_share(attempts: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    state = pl.col("state_after").struct
    checks = (
        attempts.select(*KEY, "checks", y=state.field("y"), gui=state.field("gui"))
        .explode("checks")
        .drop_nulls("checks")
        .unnest("checks")
    )
    held = _held(attempts, checks["name"], domain)
    bound = pl.col("value").cast(pl.Float64)
    knows_items = attempts.select(*KEY, knows_items=state.field("inventory").is_not_null())
    share = (
        pl.when(pl.col("type") == "inv_ge")
        .then(
            pl.when(pl.col("knows_items")).then(
                pl.when(bound > 0).then(pl.col("held").fill_null(0) / bound).otherwise(1.0)
            )
        )
        .when(pl.col("type") == "inv_lt")
        .then(pl.when(pl.col("knows_items")).then((pl.col("held").fill_null(0) < bound).cast(pl.Float64)))
        .when(pl.col("type") == "ypos_le")
        .then((pl.col("y") <= bound).cast(pl.Float64))
        .when(pl.col("type") == "ypos_ge")
        .then((pl.col("y") >= bound).cast(pl.Float64))
        .when(pl.col("type") == "gui_closed")
        .then((pl.col("gui") == "none").cast(pl.Float64))
    )
    return (
        checks.join(held, on=[*KEY, "name"], how="left", maintain_order="left")
        .join(knows_items, on=KEY, how="left", maintain_order="left")
        .group_by(KEY, maintain_order=True)
        .agg(share.clip(0, 1).mean().alias("checked"))
    )


def _held(attempts: pl.DataFrame, names: pl.Series, domain: Domain) -> pl.DataFrame:
    """(episode_id, attempt, name, held): how many of each checked item, or of a #tag's members, are held
    after the attempt; no row for none."""
    members = pl.DataFrame(
        [
            {"name": name, "item": item}
            for name in names.drop_nulls().unique(maintain_order=True)
            for item in sorted(domain.expand(name) or {name})
        ],
        schema={"name": pl.String, "item": pl.String},
    )
    return (
        attempts.select(*KEY, held=pl.col("state_after").struct.field("inventory"))
        .explode("held")
        .drop_nulls("held")
        .unnest("held")
        .rename({"name": "item"})
        .join(members, on="item")
        .group_by(*KEY, "name")
        .agg(held=pl.col("count").sum())
    )
