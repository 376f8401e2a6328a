"""`mineevolve doctor` and `mineevolve gc`."""

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import duckdb
from rich.markup import escape

from pipeline.command.console import brief, fail, out
from pipeline.command.models import examine_model
from pipeline.command.rollback import stale_words
from pipeline.command.snapshots import SNAPSHOT_ADVICE
from pipeline.settings import Settings
from warehouse import inbox, log
from warehouse.analysis import ANALYSIS, publish, ticks_view_is_stale
from warehouse.database import CONFIG, WAREHOUSE, DamagedDatabaseError, fetch, writer
from warehouse.repair import damaged_telemetry, leftovers, log_faults, pointer_faults, snapshot_faults
from warehouse.shards import DamagedShardError
from warehouse.snapshots import list_snapshots, pointers
from warehouse.trace_store import feedback_store, trace_store

_LEAST_FREE = 1 << 30
_REPAIR = "`mineevolve doctor --repair` mends it where something else still holds it, and says so where not"


_Examination = tuple[str, Callable[[Path], str], str]


def examine(*, repair: bool = False) -> None:
    """Runs every examination and says what each found and what mends it; exits with 1 when something is
    wrong. With `repair`, what can be mended without loss is mended before."""
    settings = Settings()
    home = settings.home
    if repair:
        from pipeline.command.repair import mend

        mend(settings)
    out.print(f"data home: {home}\nPython {sys.version.split()[0]}", markup=False, soft_wrap=True)
    anew = "`mineevolve ingest FOLDER` writes it anew; a damaged manifest.json has to be removed first"
    judged = f"{_REPAIR}; {anew}"
    examinations: list[_Examination] = [
        ("free space", _space, ""),
        ("writing", _writing, ""),
        ("trajectories", lambda home: f"{trace_store(home).verify()} shards are whole", anew),
        ("feedback", lambda home: f"{feedback_store(home).verify()} shards are whole", judged),
        ("log", _log, _REPAIR),
        ("inbox", _inbox, ""),
        ("snapshots", _snapshots, SNAPSHOT_ADVICE),
        ("telemetry", _telemetry, _REPAIR),
        ("warehouse", examine_warehouse, ""),
        ("analysis copy", _analysis, ""),
        ("model", lambda _: examine_model(settings.model, settings), ""),
    ]
    if settings.reviewer:
        examinations.append(("reviewer", lambda _: examine_model(settings.reviewer, settings), ""))
    wrong = 0
    for name, examination, advice in examinations:
        try:
            out.print(f"[green]ok[/]     {name}: {escape(examination(home))}", soft_wrap=True)
        except Exception as error:
            # A doctor is asked when things broke: whatever is wrong, the other examinations are made too.
            wrong += 1
            said = brief(str(error)) or type(error).__name__
            out.print(f"[bold red]wrong[/]  {name}: {escape(said)}", soft_wrap=True)
            if isinstance(error, DamagedShardError) and advice:
                out.print(f"       {advice}", soft_wrap=True, markup=False)
    _tell_stale(home)
    if wrong:
        raise fail(f"{wrong} of {len(examinations)} examinations found something wrong")


def collect_garbage(*, dry_run: bool) -> None:
    """Removes the shards that no manifest lists, and says how many and how large they were."""
    home = Settings().home
    found = [path for store in (trace_store(home), feedback_store(home)) for path in store.unlisted()]
    size = sum(path.stat().st_size for path in found)
    if not dry_run:
        for path in found:
            path.unlink()
    out.print(f"{len(found)} shards, {size / 1e6:.1f} MB {'could be' if dry_run else 'were'} removed")


def _tell_stale(home: Path) -> None:
    """Says which builds follow from knowledge that is no longer what is published; nothing is broken then."""
    with suppress(DamagedShardError, DamagedDatabaseError):  # told above
        for said in stale_words(home):
            out.print(f"[yellow]stale[/]  {escape(said)}", soft_wrap=True)


def _space(home: Path) -> str:
    nearest = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(nearest).free
    if free < _LEAST_FREE:
        raise OSError(f"only {free / 1e9:.1f} GB are free; make room before the next run")
    return f"{free / 1e9:.0f} GB"


def _writing(home: Path) -> str:
    nearest = next(folder for folder in (home, *home.parents) if folder.exists())
    if not os.access(nearest, os.W_OK):
        raise PermissionError(
            f"{nearest} may not be written to by this user: change that, or name another data home in "
            "MINEEVOLVE_DATA"
        )
    left = leftovers(home)
    return (
        f"{len(left)} files of killed writers, `mineevolve doctor --repair` removes them" if left else "may"
    )


def _log(home: Path) -> str:
    _name_first([fault for _, fault in log_faults(home)])
    return f"{len(log.shards(home))} shards are whole"


def _inbox(home: Path) -> str:
    shards = inbox.waiting(home)
    if not shards:
        return "empty"
    return f"{len(shards)} shards wait for `mineevolve knowledge take-in`, or for the next run of their build"


def _snapshots(home: Path) -> str:
    faults = [fault for _, fault in snapshot_faults(home)] + [fault for *_, fault in pointer_faults(home)]
    _name_first(faults)
    return f"{len(list_snapshots(home))} are whole"


def _telemetry(home: Path) -> str:
    damaged = damaged_telemetry(home)
    if damaged:
        raise DamagedShardError(
            f"{damaged[0]} cannot be read, nor can analysis.duckdb be published before it is gone"
        )
    return "can be read"


def examine_warehouse(home: Path) -> str:
    """What is to be said of the warehouse; raises where it cannot be used, with the command that mends it."""
    if not (home / WAREHOUSE).exists():
        if pointers(home):
            raise DamagedDatabaseError(
                f"{home / WAREHOUSE} is gone: `mineevolve warehouse rebuild` makes it anew"
            )
        return "none yet"
    try:
        with writer(home) as con:
            builds = fetch(con, "SELECT count(*) AS n FROM builds")["n"][0]
            _read_all(con)
    except duckdb.Error as error:  # it opens, and what it holds cannot be read
        raise DamagedDatabaseError(
            f"{home / WAREHOUSE} is damaged: {error}: `mineevolve warehouse rebuild` makes it anew"
        ) from error
    return f"opens, {builds} builds folded"


def _analysis(home: Path) -> str:
    if not (home / WAREHOUSE).exists():
        return "none yet"
    try:
        if not ticks_view_is_stale(home):
            with closing(duckdb.connect(home / ANALYSIS, read_only=True, config=CONFIG)) as con:
                _read_all(con)
            return "up to date"
        why = "its tick files had moved" if (home / ANALYSIS).exists() else "there was none"
    except duckdb.Error as error:
        # It is a copy and nothing else, so it is never mended but made again.
        why = f"it was damaged ({brief(str(error))})"
    publish(home)
    return f"published anew, {why}"


def _name_first(faults: list[str]) -> None:
    """Raises for the first of several faults, and says how many more there are."""
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise DamagedShardError(faults[0] + more)


def _read_all(con: duckdb.DuckDBPyConnection) -> None:
    """Reads every block of a database once; DuckDB compares each with its checksum."""
    for (name,) in con.sql("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall():
        con.sql(f"SELECT max(hash(one)) FROM {name} AS one").fetchall()
