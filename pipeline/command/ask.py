"""`mineevolve sql`, and how the other commands ask analysis.duckdb."""

import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import duckdb
import polars as pl

from pipeline.command.console import MISUSED, brief, explained, fail, out, show
from pipeline.settings import Settings
from warehouse import analysis
from warehouse.analysis import ANALYSIS, NotPublishedError, ticks_view_is_stale
from warehouse.database import CONFIG

# What Polars cannot hold; `TIMESTAMP WITH TIME ZONE` is none of it.
_AS_TEXT: Final = re.compile(r"INTERVAL|UNION|VARIANT|\bBIT\b|\bBIGNUM\b|\bTIME WITH TIME ZONE")
_ENDINGS: Final = (".csv", ".parquet", ".json")
TABLE: Final = "table"
FORMATS: Final = (TABLE, "csv", "json", "parquet")


def ask(text: str | None, output: Path | None, limit: int, as_: str = TABLE) -> None:
    """Answers a query with a table, a file, or what goes into a pipe; without a query, opens harlequin."""
    home = Settings().home
    path = home / ANALYSIS
    if text is None:
        refuse_unpublished(home)
        raise SystemExit(_browse(path))
    if as_ not in FORMATS:
        raise fail(f"there is no format {as_!r}: use {', '.join(FORMATS[:-1])} or {FORMATS[-1]}", MISUSED)
    if as_ == "parquet" and output is None and sys.stdout.isatty():
        raise fail("Parquet on a terminal is no use: send it into a file or a pipe, or use --output", MISUSED)
    if output is not None:
        _refuse_unwritable(output)
    refuse_unpublished(home)
    # A date that Python has no object for makes Polars panic, which is no Exception.
    unreadable = (duckdb.Error, pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError)
    with explained(*unreadable), _reading(home):
        frame = _answer(path, text)
        if output is None and as_ == TABLE:
            show(frame, limit=limit)
            return
    if output is None:
        _print(frame, as_)
        return
    with explained(OSError, pl.exceptions.PolarsError):
        _write(frame, output, output.suffix)
    out.print(f"{frame.height} rows written to {output}", markup=False, soft_wrap=True)


def query(home: Path, sql: str, params: list[Any] | None = None) -> pl.DataFrame:
    """`warehouse.analysis.query` for a command: ends it with advice when nothing is published or the file is
    damaged."""
    refuse_unpublished(home)
    with _reading(home):
        return analysis.query(home, sql, params)


def refuse_unpublished(home: Path) -> None:
    """Ends the command where there is no analysis.duckdb yet."""
    path = home / ANALYSIS
    if not path.exists():
        raise fail(f"{path} does not exist yet: run `mineevolve run` first", MISUSED)


@contextmanager
def _reading(home: Path) -> Iterator[None]:
    """Tells a damaged or outdated file from a query that is wrong."""
    path = home / ANALYSIS
    try:
        yield
    except duckdb.Error as error:
        said = brief(str(error))
        if "Could not set lock on file" in said:
            raise fail(
                f"another program has {path} open to write ({said}): close it there and open it read-only"
            ) from error
        if str(path) in said or "Corrupt database file" in said:
            raise fail(f"{path} is damaged ({said}): `mineevolve doctor` makes it anew") from error
        if isinstance(error, duckdb.IOException) and ticks_view_is_stale(home):
            raise NotPublishedError(
                f"{path} reads recordings at places where they no longer are: `mineevolve doctor` publishes "
                "it again"
            ) from error
        raise


def _refuse_unwritable(output: Path) -> None:
    if output.suffix not in _ENDINGS:
        what = output.suffix or "a file without an ending"
        raise fail(f"cannot write {what}: use {', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}", MISUSED)
    if not output.parent.is_dir():
        raise fail(f"cannot write {output}: there is no folder {output.parent}", MISUSED)


def _answer(path: Path, text: str) -> pl.DataFrame:
    """What the last statement of `text` gives, columns that Polars has no type for as DuckDB prints them."""
    statements = duckdb.extract_statements(text)
    if not statements:
        raise fail('the query is empty; ask for example "FROM failure_mix" (docs/sql.md)', MISUSED)
    with closing(duckdb.connect(path, read_only=True, config=CONFIG)) as con:
        frame: pl.DataFrame = _readable(con.sql(text)).pl()
    if statements[-1].expected_result_type == [duckdb.ExpectedResultType.NOTHING]:
        raise fail("the query gives no rows: its last statement has to be a SELECT, FROM, SHOW …", MISUSED)
    return frame


def _readable(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    kinds = [str(kind) for kind in relation.types]
    if not any(map(_AS_TEXT.search, kinds)):
        return relation
    # By place, not by name: a result may have two columns of one name.
    places = [f"c{number}" for number in range(len(kinds))]
    columns = (
        f"CAST({place} AS VARCHAR) AS {_identifier(name)}"
        if _AS_TEXT.search(kind)
        else f"{place} AS {_identifier(name)}"
        for place, kind, name in zip(places, kinds, relation.columns, strict=True)
    )
    as_text = f"SELECT {', '.join(columns)} FROM answer AS answer({', '.join(places)})"
    return relation.query("answer", as_text) or relation


def _identifier(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _browse(path: Path) -> int:
    """Opens the database in harlequin, in the terminal; its exit status."""
    ask_instead = "ask with a query: `mineevolve sql 'FROM failure_mix'`"
    if find_spec("harlequin") is None:
        raise fail(f"harlequin is not installed (`pip install harlequin`); {ask_instead}", MISUSED)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise fail(f"harlequin needs a terminal; {ask_instead}", MISUSED)
    return subprocess.call([sys.executable, "-m", "harlequin", "--read-only", str(path)])


def _print(frame: pl.DataFrame, as_: str) -> None:
    """All rows onto the output, for a pipe."""
    written = io.BytesIO()
    _write(frame, written, f".{as_}")
    sys.stdout.buffer.write(written.getvalue().rstrip(b"\n") + b"\n" if as_ == "json" else written.getvalue())
    sys.stdout.buffer.flush()


def _write(frame: pl.DataFrame, output: Path | io.BytesIO, ending: str) -> None:
    if ending == ".parquet":
        frame.write_parquet(output)
        return
    for name, kind in frame.schema.items():
        if "Binary" in str(kind):
            raise fail(f"{ending} cannot hold the bytes in column {name!r}: use .parquet", MISUSED)
    if ending == ".json":
        frame.write_json(output)
        return
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    frame.with_columns(_as_json(frame[name]) for name in nested).write_csv(output)


def _as_json(column: pl.Series) -> pl.Series:
    """Lists and structs as JSON text: a cell of a CSV file holds nothing else."""
    cells = (
        None if value is None else json.dumps(value, ensure_ascii=False, default=str)
        for value in column.to_list()
    )
    return pl.Series(column.name, list(cells), dtype=pl.String)
