"""Whether a pack has room, from the counts that are seen and the sizes of stacks that the domain knows."""

import polars as pl

from rollouts.monitor.case import Case
from rollouts.monitor.runs import KEY
from warehouse.domains import Domain


def room_at(asked: pl.DataFrame, case: Case) -> pl.DataFrame:
    """`asked` (KEY, `tick`, `item`, and whatever else) with `room`: how many more of the item fitted just
    before the tick, everything being stacked as tightly as it can be; null where the domain does not say how
    much an agent carries."""
    if not case.domain.slots or asked.is_empty():
        return asked.with_columns(room=pl.lit(None, pl.Int64))
    numbered = asked.with_row_index("asked")
    held = _held_before(numbered.select("asked", *KEY, "tick"), case).with_columns(
        stack=_stack(pl.col("item"), case.domain)
    )
    slots = -(-pl.col("count") // pl.col("stack"))
    used = held.group_by("asked").agg(used=slots.sum())
    begun = held.select("asked", "item", begun=slots * pl.col("stack") - pl.col("count"))
    return (
        numbered.join(used, on="asked", how="left")
        .join(begun, on=["asked", "item"], how="left")
        .with_columns(
            room=(case.domain.slots - pl.col("used").fill_null(0)).clip(lower_bound=0)
            * _stack(pl.col("item"), case.domain)
            + pl.col("begun").fill_null(0)
        )
        .sort("asked")
        .drop("asked", "used", "begun")
    )


def _held_before(asked: pl.DataFrame, case: Case) -> pl.DataFrame:
    """(asked, item, count): the whole inventory just before the tick."""
    before = (
        case.attempts.select(*KEY, held=pl.col("state_before").struct.field("inventory"))
        .explode("held")
        .drop_nulls("held")
        .unnest("held")
        .rename({"name": "item"})
    )
    changes = case.inventory_changes.select(*KEY, "item", "delta", changed_at=pl.col("tick"))
    since = (
        asked.join(changes, on=KEY)
        .filter(pl.col("changed_at") < pl.col("tick"))
        .select("asked", "item", count=pl.col("delta"))
    )
    return (
        pl.concat(
            [asked.join(before, on=KEY).select("asked", "item", "count"), since], how="vertical_relaxed"
        )
        .group_by("asked", "item")
        .agg(pl.col("count").cast(pl.Int64).sum())
        .filter(pl.col("count") > 0)
    )


def _stack(item: pl.Expr, domain: Domain) -> pl.Expr:
    sizes = dict(domain.stacks)
    return item.replace_strict(sizes, default=domain.stack, return_dtype=pl.Int64)
