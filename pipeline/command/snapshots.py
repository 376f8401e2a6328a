"""What `mineevolve snapshot` prints."""

from pathlib import Path
from typing import Final

import polars as pl
import typer
from rich.markup import escape

from pipeline.command.console import MISUSED, explained, fail, out, show
from pipeline.settings import Settings
from warehouse.fold import all_builds
from warehouse.shards import DamagedShardError
from warehouse.snapshots import list_snapshots, load_snapshot, published_snapshot

# A folder that is there is never written over, not even by a rebuild.
SNAPSHOT_ADVICE: Final = (
    "`mineevolve doctor --repair` freezes it anew, or says that it cannot; where it cannot, remove that "
    "folder, then `mineevolve run --build BUILD` freezes it anew for the build that published it"
)


def listed() -> None:
    """Prints a row per snapshot."""
    home = Settings().home
    rows = []
    with explained(DamagedShardError):
        published = _publishers(home)
        for folder in list_snapshots(home):
            snapshot = load_snapshot(folder)
            types = [entry.type for entry in snapshot.entries]
            rows.append(
                {
                    "snapshot": folder.name,
                    "entries": len(types),
                    "skills": types.count("skill"),
                    "remedies": types.count("remedy"),
                    "curated": "yes" if snapshot.curated else "no",
                    "published by": ", ".join(published.get(folder.name, [])) or None,
                }
            )
    if not rows:
        raise _none_yet(home)
    show(pl.DataFrame(rows), f"{len(rows)} snapshots")


def verified(prefix: str | None) -> None:
    """Verifies one snapshot or all of them."""
    home = Settings().home
    folders = list_snapshots(home) if prefix is None else [_folder(home, prefix)]
    if not folders:
        raise _none_yet(home)
    damaged = 0
    for folder in folders:
        try:
            load_snapshot(folder)
        except DamagedShardError as error:
            damaged += 1
            out.print(f"[bold red]damaged[/] {folder.name}: {escape(str(error))}", soft_wrap=True)
        else:
            out.print(f"[green]whole[/]   {folder.name}")
    if damaged:
        raise fail(f"{damaged} of {len(folders)} snapshots are damaged: {SNAPSHOT_ADVICE}")


def _publishers(home: Path) -> dict[str, list[str]]:
    """The builds that published each snapshot."""
    published: dict[str, list[str]] = {}
    for build in all_builds(home):
        for curated in (True, False):
            name = published_snapshot(home, build, curated)
            if name is not None:
                published.setdefault(name, []).append(build)
    return published


def _none_yet(home: Path) -> typer.Exit:
    return fail(f"{home} holds no snapshot yet: run `mineevolve run` first", MISUSED)


def _folder(home: Path, prefix: str) -> Path:
    found = [folder for folder in list_snapshots(home) if folder.name.startswith(prefix)]
    if len(found) != 1:
        what = "no snapshot" if not found else f"{len(found)} snapshots"
        raise fail(f"{what} with an id that begins with {prefix!r}: see `mineevolve snapshot list`", MISUSED)
    return found[0]
