"""`mineevolve sql`."""

import subprocess
import sys
from pathlib import Path

import duckdb

from pipeline.command.console import MISUSED, explained, fail, out, show
from pipeline.settings import Settings
from warehouse.analysis import ANALYSIS, query


def ask(text: str | None, output: Path | None, limit: int) -> None:
    """Answers a query with a table or a file; without a query, opens harlequin."""
    home = Settings().home
    path = home / ANALYSIS
    if not path.exists():
        raise fail(f"{path} does not exist yet: run `mineevolve run` first", MISUSED)
    if text is None:
        raise SystemExit(subprocess.call([sys.executable, "-m", "harlequin", "--read-only", str(path)]))
    with explained(duckdb.Error, ValueError):
        frame = query(home, text)
    if output is None:
        show(frame, limit=limit)
        return
    match output.suffix:
        case ".csv":
            frame.write_csv(output)
        case ".parquet":
            frame.write_parquet(output)
        case ".json":
            frame.write_json(output)
        case other:
            raise fail(
                f"cannot write {other or 'a file without an ending'}: use .csv, .parquet or .json", MISUSED
            )
    out.print(f"{frame.height} rows written to {output}")
