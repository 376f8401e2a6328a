"""`mineevolve doctor --repair`."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rich.markup import escape

from pipeline.command.console import brief, err, explained, out
from pipeline.command.examine import examine_warehouse
from pipeline.settings import Settings
from warehouse.database import BusyError, DamagedDatabaseError, MigrationError, exclusive, lock_of
from warehouse.domains import load_domain
from warehouse.fold import curator
from warehouse.quarantine import set_aside
from warehouse.repair import (
    Found,
    mend_log,
    mend_pointers,
    mend_snapshots,
    mend_telemetry,
    mend_warehouse,
    sweep,
)
from warehouse.shards import DamagedShardError, verify_file
from warehouse.trace_store import feedback_store, trace_store

Mending = Callable[[Path], Iterable[Found]]


def mend(settings: Settings) -> None:
    """Mends what can be mended without loss, and says of each thing what was done or what can be done."""
    home = settings.home
    if not home.exists():
        return
    with explained(BusyError), exclusive(lock_of(home), str(home), wait_s=0):
        pass  # what somebody is writing now is not damaged
    mendings: list[tuple[str, Mending]] = [
        ("leftovers", sweep),
        ("telemetry", mend_telemetry),
        # From the warehouse, so before that is made anew without what is missing.
        ("log", mend_log),
        ("feedback", lambda home: _judged_again(settings, home)),
        ("warehouse and snapshots", lambda home: _warehouse(settings, home)),
        ("what builds publish", mend_pointers),
        ("runs", lambda _: _dead_runs(settings)),
    ]
    for name, mending in mendings:
        with err.status(f"mending: {name}"):
            _tell(name, mending(home))


def _tell(name: str, found: Iterable[Found]) -> None:
    try:
        for one in found:
            mark = "[green]mended[/]" if one.mended else "[bold red]not mended[/]"
            out.print(f"{mark} {escape(brief(one.what))}: {escape(one.said)}", soft_wrap=True)
    except Exception as error:
        # One thing that cannot be mended keeps nothing else from it; what it was, the examination names.
        said = brief(str(error)) or type(error).__name__
        out.print(f"[bold red]not mended[/] {name}: {escape(said)}", soft_wrap=True)


def _warehouse(settings: Settings, home: Path) -> Iterator[Found]:
    try:
        examine_warehouse(home)
    except (DamagedDatabaseError, MigrationError) as error:
        yield from mend_warehouse(home, curator(load_domain(settings.domain), settings.curation), str(error))
    else:
        yield from mend_snapshots(home)


def _judged_again(settings: Settings, home: Path) -> Iterator[Found]:
    """Feedback is what Monitor makes of the trajectories: damaged shards are made again from these."""
    from rollouts.judging import judge_source

    store, domain = feedback_store(home), load_domain(settings.domain)
    for part in list(store.parts()):
        faults = {shard.path: said for shard in part.shards if (said := _fault(shard.path, shard.sha256))}
        if not faults:
            continue
        told = next(iter(faults.values()))
        try:
            trace_store(home).verify([part.build])
        except DamagedShardError as error:
            yield Found(told, f"its trajectories are damaged, too: {error}", mended=False)
            continue
        kept = [set_aside(home, path) for path in faults if path.exists()]
        judge_source(home, domain, part.build, part.group, part.source)
        same = part in list(store.parts("feedback", [part.build]))
        how = (
            "the same"
            if same
            else f"otherwise than before: `mineevolve run --build {part.build}` learns anew"
        )
        where = "".join(f"; what was damaged is kept as {one.relative_to(home).as_posix()}" for one in kept)
        yield Found(told, f"judged again from the trajectories, {how}{where}")


def _fault(path: Path, sha256: str) -> str:
    try:
        verify_file(path, sha256)
    except DamagedShardError as error:
        return str(error)
    return ""


def _dead_runs(settings: Settings) -> Iterator[Found]:
    """Runs whose process is gone keep their place in a pool until somebody ends them."""
    if not any((settings.dagster_home / "alive").glob("*.lock")):
        return
    import dagster as dg

    from pipeline.in_process import end_dead_runs
    from pipeline.launch import prepare

    with dg.DagsterInstance.from_config(str(prepare(settings))) as instance:
        ended = end_dead_runs(instance)
    if ended:
        yield Found(f"{len(ended)} runs whose process is gone", "ended, and their places in pools are free")
