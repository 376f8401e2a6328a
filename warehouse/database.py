"""The warehouse's DuckDB file: one file, one writer, its tables from `sql/migrations/`.

DuckDB refuses a second process outright, even one that only reads. So a writer takes an advisory lock first,
with a bounded wait, and readers use `analysis.duckdb` (warehouse/analysis.py), which is never written to.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import duckdb
import polars as pl
from filelock import FileLock, Timeout

from warehouse.writing import reached, refusals_explained

SQL: Final = Path(__file__).parent / "sql"
WAREHOUSE: Final = "warehouse.duckdb"
LOCK_WAIT_S: Final = 30.0
# No extension can be fetched where this runs; without this, a misspelt function tries the network first.
CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {"autoinstall_known_extensions": "false"}


class BusyError(RuntimeError):
    """Another process holds what this one wants to write."""


class DamagedDatabaseError(RuntimeError):
    """The database file cannot be opened. It holds nothing that the shards do not: rebuild it."""


class MigrationError(RuntimeError):
    """The file's tables do not come from this version's migrations."""


@contextmanager
def exclusive(lock: Path, what: str, wait_s: float = LOCK_WAIT_S) -> Iterator[None]:
    """Holds the advisory lock `lock` while the block runs; `BusyError` after `wait_s` seconds of waiting.

    The lock belongs to the process: it is free again when the process ends, however it ends.
    """
    held = FileLock(lock, timeout=wait_s)
    try:
        with refusals_explained(lock):
            lock.parent.mkdir(parents=True, exist_ok=True)
            held.acquire()
    except Timeout as timeout:
        raise BusyError(
            f"another process is writing {what} (waited {wait_s:g} s for {lock}). Wait until that run has "
            f"ended and try again; `fuser {lock}` names the process. To read, use analysis.duckdb: it is "
            "never locked."
        ) from timeout
    try:
        yield
    finally:
        held.release()


def lock_of(home: Path) -> Path:
    """The advisory lock of a data home's warehouse."""
    return home / f".{WAREHOUSE}.lock"


@contextmanager
def writer(home: Path, wait_s: float = LOCK_WAIT_S) -> Iterator[duckdb.DuckDBPyConnection]:
    """The warehouse of a data home, opened to write, its tables up to date; made when there is none.

    `BusyError` when another process keeps it for longer than `wait_s` seconds, `DamagedDatabaseError` when
    the file is no whole database.
    """
    path = home / WAREHOUSE
    with exclusive(lock_of(home), str(path), wait_s), opened(path) as con:
        migrate(con)
        yield con


@contextmanager
def opened(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The database file at `path`, opened to write without a lock, closed when the block ends."""
    try:
        with refusals_explained(path):
            con = duckdb.connect(path, config=CONFIG)
    except duckdb.Error as error:
        if "Could not set lock on file" in str(error):
            raise BusyError(
                f"another program has {path} open: {error}. Close it; analysis.duckdb is there to be read."
            ) from error
        raise DamagedDatabaseError(
            f"{path} is damaged: {error}. Nothing was overwritten, and nothing is lost: `mineevolve "
            "warehouse rebuild` makes it anew from the shards."
        ) from error
    with refusals_explained(path):
        try:
            yield con
        finally:
            con.close()


@contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All of the block's statements or none of them."""
    con.begin()
    try:
        yield
    except BaseException:
        with suppress(duckdb.Error):  # one that met a full disk is over already
            con.rollback()
        raise
    reached("commit", Path(WAREHOUSE))
    con.commit()
    reached("committed", Path(WAREHOUSE))


def settle(con: duckdb.DuckDBPyConnection) -> None:
    """Brings everything into the database file itself. Closing does so too, but where the disk is full it
    says nothing and leaves the rest in a file beside, which is lost when the database is moved."""
    con.execute("CHECKPOINT")


def statement(name: str) -> str:
    """The text of `sql/<name>.sql`."""
    return (SQL / f"{name}.sql").read_text(encoding="utf-8")


def migrate(con: duckdb.DuckDBPyConnection, folder: Path = SQL / "migrations") -> list[str]:
    """Applies the migrations `NNN_*.sql` of `folder` that the file has not seen, in order; their names.

    Each is one transaction with its own record. A recorded migration whose text has changed since, or that
    is gone, is a `MigrationError`: tables are changed by a new migration, never by editing an old one.
    """
    con.execute(statement("migrations"))
    known = dict(con.sql("SELECT name, sha256 FROM migrations").fetchall())
    available = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("[0-9]*_*.sql"))}
    for name, sha256 in sorted(known.items()):
        if name not in available:
            raise MigrationError(f"migration {name} was applied, but this version does not have it")
        if _hash(available[name]) != sha256:
            raise MigrationError(
                f"migration {name} has changed since it was applied; `mineevolve warehouse rebuild` makes "
                "the warehouse anew"
            )
    applied = []
    for name, text in available.items():
        if name in known:
            continue
        with transaction(con):
            con.execute(text)
            con.execute("INSERT INTO migrations VALUES (?, ?)", [name, _hash(text)])
        applied.append(name)
    return applied


def insert(con: duckdb.DuckDBPyConnection, table: str, frame: pl.DataFrame) -> int:
    """Appends `frame` to `table`, column by name; how many rows. A column the table lacks is an error."""
    if frame.height:
        con.register("incoming", frame)
        try:
            con.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming")
        finally:
            con.unregister("incoming")
    return frame.height


def fetch(con: duckdb.DuckDBPyConnection, sql: str, params: list[Any] | None = None) -> pl.DataFrame:
    """The rows that `sql` gives, as a frame."""
    rows: pl.DataFrame = con.sql(sql, params=params or []).pl()
    return rows


def run_script(con: duckdb.DuckDBPyConnection, script: str, build: str) -> None:
    """Runs the statements of `sql/<script>.sql` about one build; only a variable reaches all of them."""
    con.execute("SET VARIABLE build = ?", [build])
    con.execute(statement(script))


def quoted(text: str | Path) -> str:
    """`text` as an SQL string literal, for the places where DuckDB takes no parameter."""
    escaped = str(text).replace("'", "''")
    return f"'{escaped}'"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
