"""What model calls and retrievals took: times, reuse, cost. Beside the log and outside of every hash, fold
and comparison.

    telemetry/model_calls/<time>-<process>.parquet    a row per question, cached or not
    telemetry/retrievals/<time>-<process>.parquet     a row per retrieval of a study's evaluation

The answer log, which the fold reads, has neither time nor cost. These files may be removed at any time.
"""

import os
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import polars as pl

from warehouse.shards import replacing

_MODEL_CALLS: Final = "model_calls"
_RETRIEVALS: Final = "retrievals"
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
RETRIEVAL_TELEMETRY: Final = pl.Schema(
    {
        "at": pl.Datetime("us", "UTC"),
        "build": pl.String(),
        "seconds": pl.Float64(),
        "active": pl.Int32(),
        "retrieved": pl.Int32(),
    }
)
"""`build` is the one that the episodes are filed under, `active` the entries that could be retrieved."""


def now() -> datetime:
    """The time of a row."""
    return datetime.now(UTC)


def append(home: Path, rows: Sequence[Mapping[str, Any]]) -> Path | None:
    """Writes rows of `MODEL_TELEMETRY` as one file; its path, None when there are no rows."""
    return _append(_folder(home, _MODEL_CALLS), rows, MODEL_TELEMETRY)


def append_retrievals(home: Path, rows: Sequence[Mapping[str, Any]]) -> Path | None:
    """Writes rows of `RETRIEVAL_TELEMETRY` as one file; its path, None when there are no rows."""
    return _append(_folder(home, _RETRIEVALS), rows, RETRIEVAL_TELEMETRY)


def read(home: Path) -> pl.DataFrame:
    """All rows of `MODEL_TELEMETRY`, oldest first."""
    return _read(_folder(home, _MODEL_CALLS), MODEL_TELEMETRY)


def read_retrievals(home: Path) -> pl.DataFrame:
    """All rows of `RETRIEVAL_TELEMETRY`, oldest first."""
    return _read(_folder(home, _RETRIEVALS), RETRIEVAL_TELEMETRY)


def telemetry_files(home: Path) -> list[Path]:
    """All files of the telemetry, sorted."""
    return sorted((home / "telemetry").glob("*/[0-9]*.parquet"))


def _append(folder: Path, rows: Sequence[Mapping[str, Any]], schema: pl.Schema) -> Path | None:
    if not rows:
        return None
    at = time.time_ns()
    # A clock that was set back may give a time again; what stands under it stays.
    while (path := folder / f"{at}-{os.getpid()}.parquet").exists():
        at += 1
    with replacing(path) as temporary:
        pl.DataFrame(rows, schema=schema, orient="row").write_parquet(temporary)
    return path


def _read(folder: Path, schema: pl.Schema) -> pl.DataFrame:
    frames = [pl.read_parquet(path, glob=False) for path in sorted(folder.glob("[0-9]*.parquet"))]
    return pl.concat(frames).sort("at", maintain_order=True) if frames else pl.DataFrame(schema=schema)


def _folder(home: Path, kind: str) -> Path:
    return home / "telemetry" / kind
