"""How a person names a snapshot: by the first digits of its id, or by the build that publishes it."""

from pathlib import Path

from pipeline.command.console import MISUSED, fail
from warehouse.snapshots import Snapshot, list_snapshots, load_snapshot, published_snapshot


def named_snapshot(home: Path, name: str) -> Snapshot:
    """The snapshot whose id begins with `name`, or that the build of that name publishes, which goes first.

    Ends the command where there is none, or more than one. `DamagedShardError` where it is not whole.
    """
    of_build = published_snapshot(home, name) if "/" not in name else None
    if of_build is not None:
        return load_snapshot(home / "snapshots" / of_build)
    found = [folder for folder in list_snapshots(home) if folder.name.startswith(name)]
    if len(found) == 1:
        return load_snapshot(found[0])
    what = "no snapshot" if not found else f"{len(found)} snapshots"
    raise fail(
        f"{what} with an id that begins with {name!r}, and no build of that name publishes one: see "
        "`mineevolve snapshot list`",
        MISUSED,
    )


def one_that_publishes(home: Path) -> str:
    """The last build that has published a snapshot; ends the command where none has."""
    builds = sorted(path.stem for path in (home / "snapshots" / "builds").glob("*.json"))
    if not builds:
        raise fail(f"{home} holds no snapshot yet: run `mineevolve run` first", MISUSED)
    return builds[-1]
