"""Rows of evidence in the shape that the cascade takes."""

from typing import Final

import polars as pl

from rollouts.monitor.runs import KEY

CAUSES: Final = pl.Schema(
    {
        "episode_id": pl.String(),
        "attempt": pl.Int32(),
        "type": pl.String(),
        "tick": pl.Int32(),
        "seq": pl.Int32(),
        "name": pl.String(),
        "count": pl.Int32(),
        "items": pl.List(pl.Struct({"name": pl.String, "count": pl.Int32})),
        "text": pl.String(),
    }
)
"""A cause that holds for an attempt, with where and by what it was seen."""
EVIDENCE: Final = [name for name in CAUSES if name not in (*KEY, "type")]


def no_causes() -> pl.DataFrame:
    """What a rule says of attempts to which it does not apply. In the episode loop that is nearly every rule
    for nearly every round, and a query over no rows costs what one over thousands does."""
    return CAUSES.to_frame()


def as_cause(frame: pl.DataFrame, type_: str, **evidence: pl.Expr) -> pl.DataFrame:
    """Rows of `frame` as causes of one type; evidence columns that are not given are null."""
    if frame.is_empty():
        return no_causes()
    given = {name: pl.col(name) for name in KEY} | {"type": pl.lit(type_)} | evidence
    return frame.select(
        given.get(name, pl.lit(None)).cast(dtype).alias(name) for name, dtype in CAUSES.items()
    )
