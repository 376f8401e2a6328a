"""`mineevolve knowledge`."""

from pathlib import Path
from typing import Annotated

import typer

from pipeline.command.options import Build

app = typer.Typer(help="Knowledge entries and what they rest on.", no_args_is_help=True)
EntryId = Annotated[str, typer.Argument(help="an entry's id, or its first digits")]


@app.command("list")
def list_entries(
    type_: Annotated[str | None, typer.Option("--type", help="skill or remedy")] = None,
    status: Annotated[str, typer.Option(help="active, merged, retired, withdrawn or all")] = "active",
) -> None:
    """List the entries with their support and confidence.

    Example: `mineevolve knowledge list --type remedy`
    """
    from pipeline.command.entries import listed

    listed(type_, status)


@app.command()
def show(entry: EntryId) -> None:
    """Show one entry: its trigger, its content as a planner reads it, its evidence and its back-test.

    The id of a candidate, or of an entry that did not get into the store, shows what was proposed and why it
    was rejected, by the checks or by a review.

    Examples:

    * `mineevolve knowledge show 85e8592d`
    * `mineevolve sql "SELECT entry_id, reasons FROM candidate_decisions WHERE verdict = 'rejected'"`
    """
    from pipeline.command.entries import shown

    shown(entry)


@app.command()
def backtests() -> None:
    """List how what was accepted fared in its back-test, and what was rejected and why.

    docs/knowledge.md says how to read the figures; `mineevolve knowledge show` gives those of one entry.

    Examples:

    * `mineevolve knowledge backtests`
    * `mineevolve sql "FROM candidate_backtests"`
    """
    from pipeline.command.entries import backtested

    backtested()


@app.command()
def explain(entry: EntryId) -> None:
    """Follow an entry back: entry, decision, candidate, feedback, and the ticks of the recording.

    Example: `mineevolve knowledge explain 85e8592d`
    """
    from pipeline.command.entries import explained_entry

    explained_entry(entry)


@app.command("export")
def export_entries(
    target: Annotated[
        Path, typer.Argument(help="a file that ends in .jsonl, or a new folder for SKILL.md files")
    ],
    snapshot: Annotated[
        str | None,
        typer.Option(help="a snapshot's id, or the build that publishes it (default: the last build's)"),
    ] = None,
) -> None:
    """Write a snapshot's entries for elsewhere: as JSONL with their evidence, or as SKILL.md files.

    The same snapshot gives the same bytes. JSONL is what `mineevolve knowledge import` reads; a folder gets
    one SKILL.md per entry, the layout that coding agents read.

    Examples:

    * `mineevolve knowledge export knowledge.jsonl`
    * `mineevolve knowledge export skills --snapshot 0003`
    """
    from pipeline.command.exchange import export

    export(target, snapshot)


@app.command("import")
def import_entries(
    file: Annotated[Path, typer.Argument(help="a JSONL file that `mineevolve knowledge export` wrote")],
    build: Build = None,
) -> None:
    """Propose entries from another data home; Curator decides by the evidence that came with them.

    They are candidates of the build like any other: what its evidence does not bear out is rejected with its
    reasons. Outcomes of use do not travel. The same file again changes nothing.

    Example: `mineevolve knowledge import knowledge.jsonl --build 0000`
    """
    from pipeline.command.exchange import take_in

    take_in(file, build)
