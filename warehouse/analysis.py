"""The product's SQL interface: `analysis.duckdb`, a copy of the warehouse with views, made to be read.

Every publication is a new file that takes the old one's place, so a reader never meets a lock and a query
that is under way goes on with what it opened. The views are `sql/views/*.sql`; docs/sql.md shows each with a
query.

    from warehouse.analysis import query
    query(Path("data"), "SELECT * FROM success_rates WHERE level = 'kind'")
"""

from collections.abc import Iterator
from contextlib import closing
from functools import cache
from inspect import cleandoc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import duckdb
import polars as pl
import polars.selectors as cs

from warehouse import telemetry
from warehouse.database import (
    CONFIG,
    LOCK_WAIT_S,
    fetch,
    insert,
    migrate,
    opened,
    quoted,
    settle,
    statement,
    writer,
)
from warehouse.records import TABLES, empty
from warehouse.shards import replacing
from warehouse.trace_store import trace_store

ANALYSIS: Final = "analysis.duckdb"
# In the order in which they build on one another.
VIEWS: Final = (
    "attempt_outcomes",
    "success_rates",
    "failure_mix",
    "stagnation_hotspots",
    "claims_vs_evidence",
    "remedy_triggers",
    "knowledge_lineage",
    "knowledge_growth",
    "candidate_decisions",
    "candidate_backtests",
    "tryout_outcomes",
    "training_lineage",
    "success_by_group",
    "success_by_task",
    "success_by_planner",
    "success_overall",
    "model_usage",
    "quarantine_summary",
    "data_quality_findings",
)
_COMMENTS: Final = ("traces", "knowledge", "publication")


class NotPublishedError(RuntimeError):
    """There is no analysis database yet, or its `ticks` view names files that are gone."""


def publish(home: Path, wait_s: float = LOCK_WAIT_S) -> Path:
    """Copies the warehouse to `analysis.duckdb`, adds the views and every comment; the file's path.

    Call it outside a `writer` block: it takes the same lock. Raises as `writer` does; until the new file is
    whole the old one stands.
    """
    path = home / ANALYSIS
    with writer(home, wait_s) as con:
        for leftover in home.glob(f".{ANALYSIS}.*.tmp*"):
            leftover.unlink()
        with replacing(path) as temporary:
            con.execute(f"ATTACH {quoted(temporary)} AS published")
            con.execute("COPY FROM DATABASE warehouse TO published")
            con.execute("DETACH published")
            with opened(temporary) as copy:
                _add_telemetry(copy, home)
                _add_views(copy, _tick_files(home))
                settle(copy)
    return path


def query(home: Path, sql: str, params: list[Any] | None = None) -> pl.DataFrame:
    """The rows that `sql` gives on a data home's `analysis.duckdb`; `?` or `$1` in it take `params`.

    Reads only, and needs no lock. `NotPublishedError` when there is none yet, or when the recordings behind
    `ticks` were moved.
    """
    path = home / ANALYSIS
    if not path.exists():
        raise NotPublishedError(f"{path} is not there: `mineevolve run` makes it")
    with closing(duckdb.connect(path, read_only=True, config=CONFIG)) as con:
        try:
            return fetch(con, sql, params)
        except duckdb.IOException as error:
            if ticks_view_is_stale(home):
                raise NotPublishedError(
                    f"{path} reads recordings at places where they no longer are: `mineevolve doctor` "
                    "publishes it again"
                ) from error
            raise


def ticks_view_is_stale(home: Path) -> bool:
    """Does the published `ticks` view read other files than the manifests list now, at the places where they
    lie now? True when nothing is published."""
    path = home / ANALYSIS
    if not path.exists():
        return True
    with closing(duckdb.connect(path, read_only=True, config=CONFIG)) as con:
        published = fetch(con, "SELECT file FROM tick_files ORDER BY file")["file"].to_list()
    return published != sorted(_tick_files(home))


class Column(NamedTuple):
    """What the database says of one of its columns."""

    type: str
    comment: str


@cache
def documented_columns() -> dict[str, dict[str, Column]]:
    """Every table and view of `analysis.duckdb` with its columns, in their order. No data home is needed."""
    with closing(duckdb.connect(config=CONFIG)) as con, TemporaryDirectory() as nowhere:
        migrate(con)
        _add_telemetry(con, Path(nowhere))
        _add_views(con, [])
        rows = fetch(
            con,
            "SELECT table_name, column_name, data_type, coalesce(comment, '') FROM duckdb_columns() "
            "WHERE NOT internal ORDER BY table_name, column_index",
        ).rows()
    found: dict[str, dict[str, Column]] = {}
    for table, column, kind, comment in rows:
        found.setdefault(table, {})[column] = Column(kind, comment)
    return found


def _tick_files(home: Path) -> list[str]:
    """The absolute paths of the tick shards that the manifests list, in stored order."""
    parts = trace_store(home.resolve()).parts("ticks")
    return [str(shard.path) for part in parts for shard in part.shards]


def _add_telemetry(con: duckdb.DuckDBPyConnection, home: Path) -> None:
    """What model calls took goes into the copy alone: the warehouse holds nothing that has a time in it."""
    rows = telemetry.read(home)
    con.register("incoming", rows)
    con.execute("CREATE TABLE telemetry AS FROM incoming")
    con.unregister("incoming")


def _add_views(con: duckdb.DuckDBPyConnection, tick_files: list[str]) -> None:
    con.execute("CREATE TABLE tick_files (file VARCHAR NOT NULL)")
    insert(con, "tick_files", pl.DataFrame({"file": tick_files}, schema={"file": pl.String}))
    # read_parquet takes no empty list.
    listed = ", ".join(quoted(file) for file in tick_files)
    source = f"read_parquet([{listed}])" if tick_files else _no_ticks(con)
    con.execute(statement("views/ticks").replace("{files}", source))
    for name in ("wilson", *VIEWS):
        con.execute(statement(f"views/{name}"))
    for comment in _contract_comments():
        con.execute(comment)
    for name in _COMMENTS:
        con.execute(statement(f"comments/{name}"))


def _no_ticks(con: duckdb.DuckDBPyConnection) -> str:
    """A query of no rows with the columns of `ticks`."""
    con.register("incoming", empty("ticks").with_columns(cs.enum().cast(pl.String)))
    columns = con.sql("FROM incoming")
    nulls = (
        f"CAST(NULL AS {kind}) AS {name}" for name, kind in zip(columns.columns, columns.types, strict=True)
    )
    query_of_none = f"(SELECT {', '.join(nulls)} WHERE false)"
    con.unregister("incoming")
    return query_of_none


def _contract_comments() -> Iterator[str]:
    """COMMENT statements for what warehouse/records.py says of its tables and columns."""
    for name, table in TABLES.items():
        kind = "VIEW" if name == "ticks" else "TABLE"
        yield f"COMMENT ON {kind} {name} IS {quoted(' '.join(cleandoc(table.schema.__doc__ or '').split()))}"
        for column, definition in table.schema.columns().items():
            if definition.description:
                yield f"COMMENT ON COLUMN {name}.{column} IS {quoted(definition.description)}"
