"""`mineevolve knowledge`."""

from typing import Annotated

import typer

app = typer.Typer(help="Knowledge entries and what they rest on.", no_args_is_help=True)
EntryId = Annotated[str, typer.Argument(help="an entry's id, or its first digits")]


@app.command("list")
def list_entries(
    type_: Annotated[str | None, typer.Option("--type", help="skill or remedy")] = None,
    status: Annotated[str, typer.Option(help="active, merged, retired or all")] = "active",
) -> None:
    """List the entries with their support and confidence.

    Example: `mineevolve knowledge list --type remedy`
    """
    from pipeline.command.entries import listed

    listed(type_, status)


@app.command()
def show(entry: EntryId) -> None:
    """Show one entry: its trigger, its content as a planner reads it, its evidence and its versions.

    The id of a candidate, or of an entry that did not get into the store, shows what was proposed and why it
    was rejected, by the checks or by a review.

    Examples:

    * `mineevolve knowledge show 85e8592d`
    * `mineevolve sql "SELECT entry_id, reasons FROM candidate_decisions WHERE verdict = 'rejected'"`
    """
    from pipeline.command.entries import shown

    shown(entry)


@app.command()
def explain(entry: EntryId) -> None:
    """Follow an entry back: entry, decision, candidate, feedback, and the ticks of the recording.

    Example: `mineevolve knowledge explain 85e8592d`
    """
    from pipeline.command.entries import explained_entry

    explained_entry(entry)
