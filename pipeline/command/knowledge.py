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
    status: Annotated[
        str, typer.Option(help="active, demoted, merged, retired, withdrawn or all")
    ] = "active",
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
def explain(
    entry: EntryId,
    html: Annotated[
        Path | None, typer.Option(help="write one self-contained page to this file instead")
    ] = None,
) -> None:
    """Explain an entry: what it rests on down to the ticks, how it was tested and used, what speaks against
    it, and what was decided of it when.

    The page also draws where the evidence was walked, and how confidence followed the outcomes of use.

    Examples:

    * `mineevolve knowledge explain 85e8592d`
    * `mineevolve knowledge explain 85e8592d --html entry.html`
    """
    from pipeline.command.explained import explained_entry

    explained_entry(entry, html)


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


@app.command("hand-in")
def hand_in_candidates(
    target: Annotated[Path, typer.Argument(help="the data home that curates, as a folder")],
    build: Annotated[
        str | None, typer.Option(help="the build whose candidates are meant (default: all)")
    ] = None,
) -> None:
    """Hand this data home's candidates in to another one, with the evidence that they cite.

    For several machines that play and one that curates: each plays and learns in a data home of its own and
    hands in what was proposed there; any number may do so at once. They lie in the target's inbox until
    `mineevolve knowledge take-in`, the next run of their build there, or its sensor takes them in. Handed in
    twice, they are there once. Outcomes of use do not travel.

    Examples:

    * `mineevolve knowledge hand-in /shared/data`
    * `MINEEVOLVE_DATA=data-3 mineevolve knowledge hand-in /shared/data --build 0007`
    """
    from pipeline.command.inbox import handed_in

    handed_in(target, build)


@app.command("take-in")
def take_in_candidates(
    build: Annotated[str | None, typer.Option(help="take in what is for this build (default: all)")] = None,
) -> None:
    """Take what was handed in into the log, have it decided on, and publish what came of it.

    A reviewer is asked (MINEEVOLVE_REVIEWER), new entries are tried out where that can be done, and Curator
    decides: the job take_in_candidates. The order in which it came does not matter. A shard that cannot be
    read goes to quarantine/ with the reason, and the rest is taken in. Stopped at any point, it goes on when
    it is run again.

    Examples:

    * `mineevolve knowledge take-in`
    * `mineevolve knowledge take-in --build 0007`
    """
    from pipeline.command.inbox import taken_in

    taken_in(build)


@app.command("import")
def import_entries(
    file: Annotated[Path, typer.Argument(help="a JSONL file that `mineevolve knowledge export` wrote")],
    build: Build = None,
) -> None:
    """Propose entries from another data home; Curator decides by the evidence that came with them.

    They are candidates of the build like any other: a reviewer is asked about them (MINEEVOLVE_REVIEWER), and
    what its evidence does not bear out is rejected with its reasons. Outcomes of use do not travel. The same
    file again changes nothing. What was handed in for the build is taken in with it.

    Example: `mineevolve knowledge import knowledge.jsonl --build 0000`
    """
    from pipeline.command.exchange import take_in

    take_in(file, build)
