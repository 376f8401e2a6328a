"""`mineevolve snapshot rollback`."""

from collections.abc import Iterator
from pathlib import Path

import typer
from rich.markup import escape

from pipeline.command.console import MISUSED, err, explained, fail, out
from pipeline.command.named import named_snapshot
from pipeline.settings import Settings
from rollouts.lineage import stale_builds
from warehouse.database import WAREHOUSE
from warehouse.domains import load_domain
from warehouse.rollback import RollbackError, note_rollback, outdated
from warehouse.shards import DamagedShardError
from warehouse.snapshots import point_at, published_snapshot


def rolled_back(build: str, to: str, *, sure: bool) -> None:
    """Sets a build back to a snapshot, after asking, and names what follows from what it handed on before."""
    from warehouse.analysis import publish
    from warehouse.build_evidence import StaleFeedbackError
    from warehouse.fold import curator, fold_build

    settings = Settings()
    home = settings.home
    with explained(DamagedShardError):
        snapshot = named_snapshot(home, to)
    before = published_snapshot(home, build)
    if before is None:
        raise fail(f"build {build} publishes no snapshot: see `mineevolve snapshot list`", MISUSED)
    if not sure:
        typer.confirm(f"Set build {build} back from {before} to {snapshot.snapshot_id}?", abort=True)
    with explained(RollbackError, code=MISUSED):
        note_rollback(home, build, snapshot)
    with explained(DamagedShardError, StaleFeedbackError), err.status("folding the build and those after it"):
        fold_build(home, build, curator(load_domain(settings.domain), settings.curation))
        point_at(home, build, snapshot.snapshot_id)
        publish(home)
        _tell_dagster(settings, build, snapshot.snapshot_id, before)
    change = "as it did before"
    if before != snapshot.snapshot_id:
        back = f"`mineevolve snapshot rollback {build} {before}` takes it back"
        change = f"it was {before}. Nothing was deleted: {back}"
    out.print(
        f"Build {build} publishes snapshot {snapshot.snapshot_id} now, with {len(snapshot.entries)} entries; "
        f"{change}.",
        markup=False,
        soft_wrap=True,
    )
    for said in stale_words(home):
        out.print(f"[yellow]stale[/]  {escape(said)}", soft_wrap=True)


def _tell_dagster(settings: Settings, build: str, now: str, before: str) -> None:
    """A materialization of the snapshot, so that the UI shows what the build hands on."""
    if not settings.dagster_home.exists():
        return
    import dagster as dg

    from pipeline.launch import prepare

    event = dg.AssetMaterialization(
        "knowledge_snapshot",
        partition=build,
        description="set back by `mineevolve snapshot rollback`",
        metadata={"snapshot": now, "set back from": before},
        tags={"dagster/data_version": now},
    )
    with dg.DagsterInstance.from_config(str(prepare(settings))) as instance:
        instance.report_runless_asset_event(event)


def stale_words(home: Path) -> Iterator[str]:
    """What follows from knowledge that a build does not hand on any more, and what makes it anew."""
    trained = stale_builds(home)
    for stale in trained:
        yield f"{stale}: `mineevolve train --build {stale.build}` plays it again with that"
    if not (home / WAREHOUSE).exists():
        return  # a home that was only looked at stays as it is
    for behind in outdated(home):
        yield f"{behind}: learning build {behind.build} again publishes that"
