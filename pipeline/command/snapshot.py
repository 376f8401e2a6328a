"""`mineevolve snapshot`."""

from typing import Annotated

import typer

app = typer.Typer(help="Frozen snapshots of the knowledge.", no_args_is_help=True)
SnapshotId = Annotated[str, typer.Argument(help="a snapshot's id, or its first digits")]


@app.command("list")
def list_all() -> None:
    """List the snapshots: id, entries by type, and the builds that published them.

    Example: `mineevolve snapshot list`
    """
    from pipeline.command.snapshots import listed

    listed()


@app.command()
def verify(
    snapshot: Annotated[str | None, typer.Argument(help="one snapshot; all of them by default")] = None,
) -> None:
    """Check that every file is what its manifest says, and that the id is the content's. Exits with 1 if not.

    Example: `mineevolve snapshot verify`
    """
    from pipeline.command.snapshots import verified

    verified(snapshot)


@app.command()
def diff(old: SnapshotId, new: SnapshotId) -> None:
    """What the second snapshot has that the first has not: added, changed, merged and removed entries.

    Example: `mineevolve snapshot diff 3f2a 9c1b`
    """
    from pipeline.command.snapshots import compared

    compared(old, new)
