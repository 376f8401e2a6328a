"""Rows of evidence in the shape that the cascade takes."""

import polars as pl

from rollouts.monitor.runs import KEY

_ITEMS = pl.List(pl.Struct({"name": pl.String, "count": pl.Int32}))


def as_cause(frame: pl.DataFrame, type_: str, **evidence: pl.Expr) -> pl.DataFrame:
    """Rows of `frame` as causes of one type; evidence columns that are not given are null."""
    unknown = {
        "tick": pl.lit(None, pl.Int32),
        "seq": pl.lit(None, pl.Int32),
        "name": pl.lit(None, pl.String),
        "count": pl.lit(None, pl.Int32),
        "items": pl.lit(None, _ITEMS),
        "text": pl.lit(None, pl.String),
    }
    return frame.select(
        *KEY, pl.lit(type_).alias("type"), *[expr.alias(name) for name, expr in (unknown | evidence).items()]
    )
