"""The command's tree. Subcommands import what they need when they are called: `--help` stays fast."""

from pathlib import Path
from typing import Annotated

import typer

from pipeline.command import knowledge, monitor, snapshot, tasks, warehouse

app = typer.Typer(
    name="mineevolve",
    help="Trajectories in, typed feedback and curated knowledge out.\n\n"
    "Everything is written below data/ (moved by MINEEVOLVE_DATA). Exit codes: 0 done, 1 failed or a check "
    "did not hold, 2 called wrongly, 3 done but input was put aside (with --strict).",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_show_locals=False,
)
app.add_typer(knowledge.app, name="knowledge")
app.add_typer(snapshot.app, name="snapshot")
app.add_typer(tasks.app, name="tasks")
app.add_typer(monitor.app, name="monitor")
app.add_typer(warehouse.app, name="warehouse")

Build = Annotated[str | None, typer.Option(help="the build to work on; builds are folded in sorted order")]
Format = Annotated[str | None, typer.Option("--format", help="name the format instead of recognising it")]
Strict = Annotated[bool, typer.Option("--strict", help="exit with 3 when input was put in quarantine")]


@app.command()
def run(
    traces: Annotated[
        list[Path] | None,
        typer.Option(help="a folder of recordings; may be given several times", envvar="MINEEVOLVE_TRACES"),
    ] = None,
    build: Build = None,
    format_name: Format = None,
    strict: Strict = False,
) -> None:
    """Traces in, curated knowledge out: the whole pipeline through the Dagster graph.

    Without `--traces` a small sample that ships with the project is used, and says so.

    Examples:

    * `mineevolve run --traces ../shared/traces/voyager_questllama`
    * `mineevolve run --traces runs/a --traces runs/b --build 0002`
    * `mineevolve run`
    """
    from pipeline.command.main_job import main_job

    main_job(traces or [], build, format_name, strict=strict, learn=True)


@app.command()
def ingest(
    path: Annotated[list[Path], typer.Argument(help="a folder of recordings")],
    build: Build = None,
    format_name: Format = None,
    strict: Strict = False,
) -> None:
    """Import recordings and turn them into feedback, without learning from them.

    Formats (voyager, minestudio, vpt, minerl, native) are recognised by content. Importing the same folder
    again changes nothing; a folder of the same name replaces what it brought before.

    Examples:

    * `mineevolve ingest ../shared/traces/minestudio_openha`
    * `mineevolve ingest recordings --format vpt --strict`
    """
    from pipeline.command.main_job import main_job

    main_job(path, build, format_name, strict=strict, learn=False)


@app.command()
def sql(
    query: Annotated[str | None, typer.Argument(help="a query; without one, harlequin opens")] = None,
    output: Annotated[
        Path | None, typer.Option(help="write the result here: .csv, .parquet or .json by its ending")
    ] = None,
    limit: Annotated[int, typer.Option(help="rows to print; all of them go to --output")] = 100,
) -> None:
    """Ask analysis.duckdb, read-only. Its views are described in docs/sql.md.

    Examples:

    * `mineevolve sql "FROM failure_mix"`
    * `mineevolve sql "FROM claims_vs_evidence" --output claims.csv`
    * `mineevolve sql`
    """
    from pipeline.command.ask import ask

    ask(query, output, limit)


@app.command()
def doctor() -> None:
    """Look at the data home: are all files whole, is the analysis copy up to date, is the set-up complete?

    Republishes analysis.duckdb when the folder has moved. Exits with 1 when something is wrong.

    Example: `mineevolve doctor`
    """
    from pipeline.command.examine import examine

    examine()


@app.command()
def gc(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would be removed")] = False,
) -> None:
    """Remove shards that no manifest lists any more: what a repeated import replaced.

    Nothing else is touched; snapshots and the log are never removed. Run it while nobody queries ticks.

    Example: `mineevolve gc --dry-run`
    """
    from pipeline.command.examine import collect_garbage

    collect_garbage(dry_run=dry_run)


@app.command()
def ui(
    port: Annotated[int, typer.Option(help="port on this machine")] = 3000,
) -> None:
    """Start the Dagster UI on the project's own instance.

    Example: `mineevolve ui --port 3001`
    """
    from pipeline.command.web import serve

    serve(port)
