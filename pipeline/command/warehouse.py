"""`mineevolve warehouse`."""

import typer

app = typer.Typer(help="The warehouse, a fold over the immutable shards.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Commands on the warehouse."""


@app.command()
def rebuild() -> None:
    """Make warehouse.duckdb and analysis.duckdb anew from the shards, without a model call.

    Gives the same knowledge and the same snapshot ids; this also mends a damaged warehouse file.

    Example: `mineevolve warehouse rebuild`
    """
    import polars as pl

    from pipeline.command.console import err, explained, show
    from pipeline.settings import Settings
    from warehouse.analysis import publish
    from warehouse.build_evidence import StaleFeedbackError
    from warehouse.database import BusyError
    from warehouse.domains import load_domain
    from warehouse.fold import curator
    from warehouse.fold import rebuild as rebuild_warehouse
    from warehouse.shards import DamagedShardError

    settings = Settings()
    curate = curator(load_domain(settings.domain), settings.curation)
    with explained(BusyError, DamagedShardError, StaleFeedbackError), err.status("folding every shard anew"):
        report = rebuild_warehouse(settings.home, curate)
        publish(settings.home)
    show(
        pl.DataFrame(
            {"build": list(report.snapshot_ids), "snapshot": list(report.snapshot_ids.values())},
            schema={"build": pl.String, "snapshot": pl.String},
        ),
        "Knowledge after each build",
    )
