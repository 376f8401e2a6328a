"""The sweep over the stand-in's misconceptions, where a study has written one (`mineevolve study`)."""

from pathlib import Path
from typing import Final

import polars as pl

MISCONCEPTIONS: Final = pl.Schema(
    {
        "misconceptions": pl.Float64(),
        "group": pl.String(),
        "arm": pl.String(),
        "k": pl.Int64(),
        "n": pl.Int64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
    }
)
"""`misconceptions` is the share of wrong facts, `arm` empty or frozen, the interval a 95 % Wilson one."""


class StudyError(ValueError):
    """A study's file is not what a study writes."""


def misconceptions_file(home: Path) -> Path:
    """Where the sweep is stored."""
    return home / "studies" / "misconceptions.parquet"


def misconceptions(home: Path) -> pl.DataFrame | None:
    """The sweep with `share` (k / n), sorted; None where no study was run. `StudyError` for another file."""
    path = misconceptions_file(home)
    if not path.exists():
        return None
    try:
        rows = pl.read_parquet(path, glob=False).select(
            pl.col(name).cast(kind) for name, kind in MISCONCEPTIONS.items()
        )
    except pl.exceptions.PolarsError as error:
        raise StudyError(f"{path} holds no sweep of misconceptions: {error}") from error
    share = pl.when(pl.col("n") > 0).then(pl.col("k") / pl.col("n"))
    return rows.with_columns(share=share).sort("group", "misconceptions", "arm")
