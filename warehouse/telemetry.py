"""What model calls took: times, reuse, cost. Beside the log and outside of every hash, fold and comparison.

    telemetry/model_calls/<time>-<process>.parquet

A row per question, cached or not. The answer log, which the fold reads, has neither time nor cost. These
files may be removed at any time.
"""

import os
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import polars as pl

from warehouse.shards import replacing

MODEL_TELEMETRY: Final = pl.Schema(
    {
        "at": pl.Datetime("us", "UTC"),
        "build": pl.String(),
        "role": pl.String(),
        "template": pl.String(),
        "model": pl.String(),
        "request_id": pl.String(),
        "cache_key": pl.String(),
        "error": pl.String(),
        "cached": pl.Boolean(),
        "seconds": pl.Float64(),
        "tokens_in": pl.Int32(),
        "tokens_reused": pl.Int32(),
        "tokens_out": pl.Int32(),
        "cost": pl.Float64(),
    }
)


def now() -> datetime:
    """The time of a row."""
    return datetime.now(UTC)


def append(home: Path, rows: Sequence[Mapping[str, Any]]) -> Path | None:
    """Writes rows of `MODEL_TELEMETRY` as one file; its path, None when there are no rows."""
    if not rows:
        return None
    path = _folder(home) / f"{time.time_ns()}-{os.getpid()}.parquet"
    with replacing(path) as temporary:
        pl.DataFrame(rows, schema=MODEL_TELEMETRY, orient="row").write_parquet(temporary)
    return path


def read(home: Path) -> pl.DataFrame:
    """All rows, oldest first."""
    files = sorted(_folder(home).glob("[0-9]*.parquet"))
    frames = [pl.read_parquet(path, glob=False) for path in files]
    return (
        pl.concat(frames).sort("at", maintain_order=True) if frames else pl.DataFrame(schema=MODEL_TELEMETRY)
    )


def _folder(home: Path) -> Path:
    return home / "telemetry" / "model_calls"
