"""`mineevolve monitor`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import polars as pl

app = typer.Typer(help="Monitor and how well it judges.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Commands on Monitor."""


@app.command()
def score(
    labels: Annotated[Path, typer.Argument(help="a JSON list of {file, success, claimed, failure_type, …}")],
    build: Annotated[str | None, typer.Option(help="the build that holds the labelled attempts")] = None,
) -> None:
    """Compare Monitor with human labels: agreement with k, n and a 95 % Wilson interval, confusion table.

    Agreement on failure_type is over the attempts that the labels call unsuccessful. Exits with 1 when a goal
    is missed, with 2 when none of the labelled files was imported.

    Example: `mineevolve monitor score ../shared/labels/voyager_questllama.json`
    """
    import polars as pl
    from rich.markup import escape

    from pipeline.command.console import FAILED, MISUSED, explained, fail, out, show
    from pipeline.command.sources import chosen_build
    from pipeline.settings import Settings
    from rollouts.monitor.score import read_labels
    from rollouts.monitor.score import score as score_monitor
    from warehouse.trace_store import feedback_store, trace_store

    settings = Settings()
    builds = None if build is None else [chosen_build(build, settings)]
    with explained(OSError, ValueError, code=MISUSED):
        wanted = read_labels(labels)
    attempts = trace_store(settings.home).scan("attempts", builds).collect()
    feedback = feedback_store(settings.home).scan("feedback", builds).collect()
    where = str(settings.home) if builds is None else f"build {build}"
    if attempts.is_empty():
        raise fail(f"{where} holds no attempts: run `mineevolve ingest FOLDER` first", MISUSED)
    result = score_monitor(attempts, feedback, wanted)
    if not any(agreement.n for agreement in result.agreements):
        raise fail(
            f"none of the {len(wanted)} files that {labels} names was imported into {where}: run "
            "`mineevolve ingest FOLDER` with the recordings that it labels",
            MISUSED,
        )
    rows = []
    for agreement in result.agreements:
        interval = agreement.interval
        rows.append(
            {
                "agreement on": agreement.question,
                "k": agreement.k,
                "n": agreement.n,
                "share": agreement.share,
                "95 %": f"{interval[0]:.3f}–{interval[1]:.3f}" if interval else None,
                "goal": agreement.goal,
                "met": agreement.met if agreement.n else None,
            }
        )
    show(pl.DataFrame(rows), f"Monitor against {labels.name}")
    show(_confusion(result.confusion), "Failure types: labels (rows) against Monitor (columns, by number)")
    if result.disagreements:
        show(pl.DataFrame([vars(one) for one in result.disagreements]), "Disagreements")
    if result.missing:
        names = ", ".join(result.missing[:5])
        out.print(
            f"[yellow]{len(result.missing)} labelled files are not among the attempts: {escape(names)}[/]"
        )
    # No label may call anything unsuccessful; a question that nobody asked is not answered wrongly.
    missed = [one.question for one in result.agreements if one.n and not one.met]
    if missed:
        raise fail(f"goal missed on {', '.join(missed)}", FAILED)


def _confusion(counts: "dict[tuple[str, str], int]") -> "pl.DataFrame":
    """A row per label and a column per type, numbered alike so that the matrix stays narrow."""
    import polars as pl

    names = sorted({name for pair in counts for name in pair})
    rows = [
        {"label": f"{number:2d} {name}"}
        | {str(column): counts.get((name, other)) for column, other in enumerate(names, 1)}
        for number, name in enumerate(names, 1)
    ]
    columns = {str(column): pl.Int64() for column in range(1, len(names) + 1)}
    return pl.DataFrame(rows, schema={"label": pl.String(), **columns})


@app.command()
def truth(
    build: Annotated[str | None, typer.Option(help="the build whose attempts are compared")] = None,
) -> None:
    """Compare Monitor with the world's inner truth of why attempts failed: confusion matrix, F1, macro-F1.

    Only a built-in world has one, and Monitor never sees it. The agreement is over unsuccessful attempts.
    Exits with 2 when the build holds none whose truth is known.

    Example: `mineevolve monitor truth --build 0001`
    """
    from pipeline.command.console import MISUSED, fail, out, show
    from pipeline.command.sources import chosen_build
    from pipeline.settings import Settings
    from rollouts.exercise import STAND_INS
    from rollouts.monitor.agreement import agreement
    from rollouts.recorder import stored_truths
    from warehouse.trace_store import feedback_store

    settings = Settings()
    chosen = chosen_build(build, settings)
    feedback = feedback_store(settings.home).scan("feedback", [chosen]).collect()
    result = agreement(feedback, stored_truths(settings.home, chosen))
    if not result.n:
        raise fail(
            f"build {chosen} holds no unsuccessful attempt whose inner truth is known: play one in the "
            f"built-in world with `mineevolve train --build {chosen} --group wooden`",
            MISUSED,
        )
    show(result.matrix, f"Build {chosen}: the world's truth (rows) against Monitor (columns, by number)")
    show(result.by_class, "By failure type")
    out.print(result.summary, soft_wrap=True)
    if result.untold:
        out.print(f"{result.untold} more unsuccessful attempts have no inner truth and are left out.")
    out.print(STAND_INS, soft_wrap=True)
