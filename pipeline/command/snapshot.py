"""`mineevolve snapshot`."""

from typing import Annotated

import typer

app = typer.Typer(help="Frozen snapshots of the knowledge.", no_args_is_help=True)
SnapshotId = Annotated[
    str, typer.Argument(help="a snapshot's id, its first digits, or the build that publishes it")
]


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
def diff(
    old: SnapshotId,
    new: SnapshotId,
    as_json: Annotated[bool, typer.Option("--json", help="everything that differs, as JSON")] = False,
) -> None:
    """What the second snapshot has that the first has not: added, changed, merged, demoted, restored and
    retired entries.

    Each with what changed in its evidence: independent episodes, outcomes of use, confidence; and why it went
    down, out or up again between the two. `--json` also lists the feedback that came and went.

    Examples:

    * `mineevolve snapshot diff 0006 0007`
    * `mineevolve snapshot diff 3f2a 9c1b --json`
    """
    from pipeline.command.difference import compared

    compared(old, new, as_json=as_json)


@app.command()
def rollback(
    build: Annotated[str, typer.Argument(help="the build that is set back")],
    to: SnapshotId,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
) -> None:
    """Set a build back: it hands on an earlier snapshot instead of what it learnt.

    A row is added to the log and nothing is deleted. The store after the build is what the snapshot holds;
    the builds after it are curated again on top of that, and what was played with the old one is named as
    stale, here and by `mineevolve doctor`. Another rollback takes it back; learning the build anew gives it a
    new generation, which this one does not concern.

    Examples:

    * `mineevolve snapshot rollback 0007 0006`
    * `mineevolve snapshot rollback 0007 3f2a --yes`
    """
    from pipeline.command.rollback import rolled_back

    rolled_back(build, to, sure=yes)
