"""The kinds of the log as tables of the warehouse.

A fold loads them all; those that no curation reads can be loaded alone, and then nothing is curated.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Final

import polars as pl

from warehouse import log
from warehouse.database import LOCK_WAIT_S, WAREHOUSE, fetch, insert, run_script, transaction, writer
from warehouse.log import LogShard
from warehouse.shard_list import SHARD_COLUMNS, log_listed
from warehouse.snapshots import pointers

INBOX: Final = "inbox"
"""what `quarantine` calls the source of what was handed in (warehouse/inbox.py)"""
LOG_TABLES: Final = {
    "candidates": "candidates",
    "usage": "knowledge_usage",
    "answers": "model_calls",
    "reviews": "reviews",
    "tryouts": "tryouts",
    "rollbacks": "rollbacks",
    "imports": "imports",
    "evaluations": "evaluations",
}


def load_evaluations(home: Path, build: str, wait_s: float = LOCK_WAIT_S) -> int:
    """Loads what the log holds of a build's evaluations; how many rows. Raises as `writer` does."""
    return _load_alone(home, "evaluations", build, wait_s)


def load_put_aside(home: Path, build: str, wait_s: float = LOCK_WAIT_S) -> int:
    """Loads what the log holds of files that were handed in for a build and put aside; how many rows. Raises
    as `writer` does."""
    return _load_alone(home, "put_aside", build, wait_s)


def put_aside_rows(home: Path, build: str) -> pl.DataFrame:
    """What was handed in and could not be read, as rows of `quarantine`."""
    origin = {
        "source": INBOX,
        "task_group": INBOX,
        "source_name": INBOX,
        "severity": "quarantined",
        "kept": 0,
    }
    rows = log.read(home, "put_aside", [build]).select("build", "position", "reason", "size", path="kept_at")
    return rows.with_columns(pl.lit(value).alias(name) for name, value in origin.items())


def unlisted(
    home: Path, kind: str, builds: Collection[str] | None = None, wait_s: float = LOCK_WAIT_S
) -> list[LogShard]:
    """The shards of a kind that the warehouse was not made with: they came since its last fold, and whoever
    wrote them may have been stopped before the next.

    None where builds publish and there is no warehouse: then it is lost, and a rebuild is due. Raises as
    `writer` does.
    """
    there = [shard for shard in log.shards(home, builds) if shard.kind == kind]
    if not there:
        return []
    if not (home / WAREHOUSE).exists():
        return [] if pointers(home) else there
    with writer(home, wait_s) as con:
        files = fetch(con, "SELECT file FROM shards WHERE store = 'log' AND table_name = $1", [kind])["file"]
    known = {home / file for file in files}
    return [shard for shard in there if shard.path not in known]


def _load_alone(home: Path, kind: str, build: str, wait_s: float) -> int:
    with writer(home, wait_s) as con, transaction(con):
        run_script(con, f"fold/clear_{kind}", build)
        files = log_listed(home, build, [kind])
        insert(con, "shards", pl.DataFrame(files, schema=SHARD_COLUMNS, orient="row"))
        if kind == "put_aside":
            return insert(con, "quarantine", put_aside_rows(home, build))
        return insert(con, LOG_TABLES[kind], log.read(home, kind, [build]))
