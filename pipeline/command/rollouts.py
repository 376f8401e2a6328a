"""`mineevolve train` and `mineevolve evaluate`."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.command.console import MISUSED, err, explained, fail, out, own_terminal, show
from pipeline.command.sources import chosen_build
from pipeline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warehouse.tasks import Suite


def train(
    named: str | None, groups: Sequence[str], options: dict[str, Any], where: Mapping[str, str]
) -> None:
    """Plays the groups, judges them, learns from the whole build and shows what came of it."""
    settings, build, suite, config = begin(named, groups, options, where)
    from pipeline import launch
    from rollouts.exercise import caveat
    from rollouts.lineage import TRAINING, episodes_of

    with told():
        with_progress(partial(launch.train_build, settings, build, groups or suite.groups, config))
        with err.status(f"build {build}: learning"):
            launch.learn_from_rollouts(settings, build, workers=config["workers"])
        with err.status("publishing analysis.duckdb"):
            launch.publish_analysis(settings)
    import polars as pl

    from pipeline.command.ask import query
    from rollouts.rates import INFRASTRUCTURE_END, success_rate
    from warehouse.snapshots import load_snapshot, published_snapshot

    rows = []
    for group in groups or suite.groups:
        episodes = episodes_of(settings.home, build, group, TRAINING)
        rate = success_rate(episodes)
        low, high = rate.interval or (None, None)
        infrastructure = episodes.filter(pl.col("end_reason") == INFRASTRUCTURE_END).height
        row = {"group": group, "succeeded": rate.k, "episodes": rate.n, "share": rate.share}
        rows.append(row | {"low": low, "high": high, "infrastructure": infrastructure})
    with_knowledge = episodes["snapshot_id"][0]
    knowledge = f"snapshot {with_knowledge}" if with_knowledge else "an empty store, as the first build does"
    out.print(f"\n[bold]Build {build}[/] began with {knowledge}.")
    show(pl.DataFrame(rows, infer_schema_length=None), "Training, with 95 % Wilson intervals")
    show(query(settings.home, "FROM knowledge_growth"), "Knowledge by build")
    snapshot_id = published_snapshot(settings.home, build)
    assert snapshot_id is not None
    entries = load_snapshot(settings.home / "snapshots" / snapshot_id).entries
    out.print(
        f"Published snapshot {snapshot_id} with {len(entries)} entries. "
        f"{caveat(settings.model, settings.venue.world)}",
        soft_wrap=True,
    )


def evaluate(
    named: str | None, groups: Sequence[str], options: dict[str, Any], where: Mapping[str, str]
) -> None:
    """Plays a build's snapshot against the empty store and shows both, group by group."""
    settings, build, suite, config = begin(named, groups, options, where)
    from pipeline import launch
    from rollouts.evaluation import by_planner_seed, comparison
    from rollouts.exercise import caveat

    chosen = list(groups or suite.groups)
    with told():
        with_progress(partial(launch.evaluate_snapshot, settings, build, chosen, config))
        with err.status("publishing analysis.duckdb"):
            launch.publish_analysis(settings)
    tasks = task_counts(suite, chosen, options["tasks"])
    shown = comparison(settings.home, build, tasks, suite.difficulty)
    figures = ["group", "tasks", "pairs", "empty", "empty_low", "empty_high"]
    figures += ["frozen", "frozen_low", "frozen_high"]
    show(shown.select(figures), f"Build {build}: the empty store and its frozen snapshot, 95 % Wilson")
    counts = ["only_empty", "only_frozen", "mcnemar_p", "excluded"]
    compared = shown.select("group", *counts, "difference", low="difference_low", high="difference_high")
    drawn = "; ".join(sorted({each for each in shown["drawn"] if each})) or "nothing: too few were played"
    show(compared, f"Frozen minus empty, 95 % bootstrap over {drawn}; McNemar's test is descriptive")
    if options["planners"] > 1:
        seeds = by_planner_seed(settings.home, build, chosen)
        show(seeds, "The difference by planner seed, 95 % bootstrap over tasks")
    out.print(
        "Evaluation worlds were never trained in, and nothing was learnt. "
        f"{caveat(settings.model, settings.venue.world)}",
        soft_wrap=True,
    )


def report(page: Path | None, named: str) -> None:
    """Writes the report and says what it says."""
    settings = Settings()
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")
    from rollouts.exercise import caveat
    from rollouts.report import NotEvaluatedError, read_arms, report_file
    from warehouse.domains import load_domain
    from warehouse.suites import find_suite

    # Before anything is started: a data home without an evaluation is none that a job should be logged in.
    with explained(NotEvaluatedError, OSError, ValueError, code=MISUSED):
        read_arms(settings.home, find_suite(named, load_domain(settings.domain)))
    path = report_file(settings.home) if page is None else page.resolve()
    from pipeline import launch

    config = {"out": str(path), "suite": named}
    with told(), err.status("writing the report"):
        result = launch.write_report(settings, config)
    (made,) = result.asset_materializations_for_node("loop_report")
    for said in ("verdict", "figures"):
        out.print(str(made.metadata[said].value), markup=False, soft_wrap=True)
    out.print(caveat(settings.model, settings.venue.world), soft_wrap=True)
    out.print(str(path), markup=False, soft_wrap=True)


def begin(
    named: str | None, groups: Sequence[str], options: dict[str, Any], where: Mapping[str, str] | None = None
) -> tuple[Settings, str, "Suite", dict[str, Any]]:
    """What both commands need; a wrong name ends the command before anything is started. `where` are settings
    of where worlds are stepped."""
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")
    settings = Settings(**(where or {}))
    build = chosen_build(named, settings)
    suite, config = chosen_exercise(settings, groups, options)
    if options["tasks"] and len(groups or suite.groups) != 1:
        raise fail("--task chooses among the tasks of one group: name it with --group", MISUSED)
    return settings, build, suite, config


def chosen_exercise(
    settings: Settings, groups: Sequence[str], options: dict[str, Any]
) -> tuple["Suite", dict[str, Any]]:
    """The suite and the ExerciseConfig that options ask for; a wrong name ends the command."""
    from rollouts.agent import AgentFileError, agent_row
    from rollouts.executors.registry import executor as new_executor
    from rollouts.worlds.registry import world as new_world
    from warehouse.domains import load_domain
    from warehouse.suites import SuiteNotFoundError, find_suite

    with explained(OSError, ValueError, SuiteNotFoundError, AgentFileError, code=MISUSED):
        suite = find_suite(options["suite"], load_domain(settings.domain))
        agent_row(options["agent"])
        if settings.world:
            # Made once in vain, so that what it lacks is said before anything is started.
            domain, venue = load_domain(settings.domain), settings.venue
            new_world(venue.world, domain, venue.settings)
            if venue.executor and settings.backend == "local":
                new_executor(venue.executor, domain, 0, venue.world, venue.executor_settings)
    if unknown := sorted(set(groups) - set(suite.groups)):
        raise fail(f"no group {', '.join(unknown)}; there are: {', '.join(suite.groups)}", MISUSED)
    known = {task.id for task in suite.tasks if not groups or task.group in groups}
    if strangers := sorted(set(options["tasks"]) - known):
        raise fail(f"the chosen groups have no task {', '.join(strangers)}", MISUSED)
    return suite, {key: value for key, value in options.items() if value is not None}


def task_counts(suite: "Suite", groups: Sequence[str], named: Sequence[str]) -> dict[str, int]:
    """How many tasks of each group are played, where only the named ones are, if any."""
    return {
        group: sum(task.group == group and (not named or task.id in named) for task in suite.tasks)
        for group in groups
    }


def with_progress(job: Callable[[], object]) -> None:
    """Runs a job whose bars go to the terminal."""
    from rollouts.progress import progress_on

    with progress_on(own_terminal()):
        job()


@contextmanager
def told() -> "Iterator[None]":
    """A job's failure, as one line; what nobody expected with its traceback."""
    from pipeline import launch

    try:
        yield
    except launch.RunFailedError as error:
        err.print(error.traceback, markup=False, soft_wrap=True, end="")
        raise fail(str(error)) from error
