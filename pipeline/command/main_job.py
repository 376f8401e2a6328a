"""`mineevolve run` and `mineevolve ingest`."""

import os
from pathlib import Path

from rich.markup import escape

from pipeline.command.console import MISUSED, PUT_ASIDE, err, explained, fail, out, own_terminal, show
from pipeline.command.sources import chosen_build
from pipeline.settings import Settings


def main_job(
    paths: list[Path], build: str | None, format_name: str | None, *, strict: bool, learn: bool
) -> None:
    """Imports, judges and, with `learn`, curates and publishes; then shows what came of it."""
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")
    from rollouts.ingest.importing import SameNameError, discover_all
    from rollouts.ingest.registry import UnknownFormatError

    settings = Settings()
    build = chosen_build(build, settings)
    with explained(FileNotFoundError, UnknownFormatError, SameNameError, code=MISUSED):
        discover_all(paths, format_name)  # before anything is started
    if not paths:
        err.print(f"[yellow]No traces were given (--traces): {_instead(settings, build)}[/]")
    from pipeline import launch
    from rollouts.progress import progress_on

    try:
        with progress_on(own_terminal()):
            launch.import_traces(settings, build, paths, format_name)
        if learn:
            with err.status(f"build {build}: learning"):
                launch.learn_knowledge(settings, build)
        with err.status("publishing analysis.duckdb"):
            launch.publish_analysis(settings)
    except launch.RunFailedError as error:
        err.print(error.traceback, markup=False, soft_wrap=True, end="")
        raise fail(str(error)) from error
    quarantined = summary(settings, build, learned=learn)
    if strict and quarantined:
        raise fail(
            f"{quarantined} files or records are in quarantine: mineevolve sql 'FROM quarantine_summary'",
            PUT_ASIDE,
        )


def _instead(settings: Settings, build: str) -> str:
    """What a build learns from when no folder is given."""
    from warehouse.trace_store import trace_store

    held = [escape(name) for _, name in trace_store(settings.home).sources(build)]
    if held:
        return f"build {build} learns again from what it has, {', '.join(held)}."
    return (
        "using the small hand-written sample that ships with the project. Its numbers say nothing about any "
        "agent."
    )


def summary(settings: Settings, build: str, *, learned: bool) -> int:
    """Prints what a person wants to know after a run; how many inputs are in quarantine."""
    import polars as pl

    from pipeline.command.ask import query
    from warehouse.trace_store import feedback_store, trace_store

    home = settings.home
    traces, feedback = trace_store(home), feedback_store(home).scan("feedback", [build]).collect()
    attempts = traces.scan("attempts", [build])
    figures = attempts.select(
        pl.len(), claimed=pl.col("claimed").sum(), infra=(pl.col("end_reason") == "infrastructure").sum()
    ).collect()
    events = traces.scan("events", [build]).select(pl.len()).collect().item()
    y = feedback["y"]
    judged = y.drop_nulls()
    out.print(
        f"\n[bold]Build {build}[/]: {figures['len'][0]} attempts, {events} events. "
        f"{int(judged.sum())} succeeded by evidence and {int((~judged).sum())} did not; "
        f"{int(y.null_count())} cannot be judged, {figures['infra'][0]} of them for the infrastructure. "
        f"The agents claimed {figures['claimed'][0] or 0}."
    )
    mix = (
        feedback.filter(~pl.col("y").fill_null(False))
        .group_by(pl.col("failure_type").cast(pl.String).fill_null("undecided"))
        .agg(attempts=pl.len(), stagnant=pl.col("stagnant").sum(), remedy_due=pl.col("remedy_due").sum())
        .sort(["attempts", "failure_type"], descending=[True, False])
    )
    show(mix, "Why attempts did not succeed")
    if learned:
        show(query(home, "FROM knowledge_growth"), "Knowledge by build")
    aside = traces.scan("quarantine", [build]).filter(pl.col("severity") == "quarantined").select(pl.len())
    quarantined = int(aside.collect().item())
    findings = traces.scan("data_quality", [build]).select(pl.len()).collect().item()
    out.print(f"{quarantined} files or records in quarantine, {findings} findings on data quality.")
    further = ("mineevolve sql 'FROM claims_vs_evidence'", "mineevolve knowledge list", "mineevolve ui")
    out.print(f"[dim]Look further: {' · '.join(further)}[/]")
    return quarantined
