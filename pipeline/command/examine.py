"""`mineevolve doctor`."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from rich.markup import escape

from pipeline.command.console import fail, out
from pipeline.settings import Settings
from warehouse.analysis import publish, ticks_view_is_stale
from warehouse.database import WAREHOUSE, BusyError, DamagedDatabaseError, fetch, writer
from warehouse.shards import DamagedShardError
from warehouse.snapshots import verify_snapshots
from warehouse.trace_store import feedback_store, trace_store

_LEAST_FREE = 1 << 30


def examine() -> None:
    """Runs every examination and says what each found; exits with 1 when one found something wrong."""
    home = Settings().home
    out.print(f"data home: {home}\nPython {sys.version.split()[0]}")
    examinations: list[tuple[str, Callable[[Path], str]]] = [
        ("free space", _space),
        ("trajectories", lambda home: f"{trace_store(home).verify()} shards are whole"),
        ("feedback", lambda home: f"{feedback_store(home).verify()} shards are whole"),
        ("snapshots", lambda home: f"{verify_snapshots(home)} are whole"),
        ("warehouse", _warehouse),
        ("analysis copy", _analysis),
    ]
    wrong = 0
    for name, examination in examinations:
        try:
            out.print(f"[green]ok[/]     {name}: {escape(examination(home))}", soft_wrap=True)
        except (DamagedShardError, DamagedDatabaseError, BusyError, OSError) as error:
            wrong += 1
            out.print(f"[bold red]wrong[/]  {name}: {escape(str(error))}", soft_wrap=True)
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


def _space(home: Path) -> str:
    nearest = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(nearest).free
    if free < _LEAST_FREE:
        raise OSError(f"only {free / 1e9:.1f} GB are free; make room before the next run")
    return f"{free / 1e9:.0f} GB"


def _warehouse(home: Path) -> str:
    if not (home / WAREHOUSE).exists():
        return "none yet"
    with writer(home) as con:
        builds = fetch(con, "SELECT count(*) AS n FROM builds")["n"][0]
    return f"opens, {builds} builds folded"


def _analysis(home: Path) -> str:
    if not (home / WAREHOUSE).exists():
        return "none yet"
    if ticks_view_is_stale(home):
        publish(home)
        return "published anew, its tick files had moved"
    return "up to date"
