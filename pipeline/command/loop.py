"""`mineevolve loop`: the closed loop, from an empty store to a report.

train a build -> its snapshot -> train the next with it -> ... -> evaluate them all -> report
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from pipeline.command.console import err, out, show
from pipeline.command.rollouts import chosen_exercise, task_counts, told, with_progress
from pipeline.settings import Settings

if TYPE_CHECKING:
    import polars as pl

    from warehouse.tasks import Suite


def loop(
    builds: int, groups: Sequence[str], worlds: int, options: dict[str, Any], where: Mapping[str, str]
) -> None:
    """Plays, learns, evaluates and reports; what is there already is not done again. `worlds` per task are
    evaluated in (with all but the last snapshot only the first of them); `options` is what training is played
    with, `where` settings of where worlds are stepped."""
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")
    settings = Settings(**where)
    suite, config = chosen_exercise(settings, groups, options)
    chosen = [
        group
        for group in groups or suite.groups
        if not config["tasks"] or any(suite.task(each).group == group for each in config["tasks"])
    ]
    names = [f"{number:04}" for number in range(1, builds + 1)]
    asked = config | {"episodes": worlds, "crossed": False, "frozen_worlds": 1, "in_full": names[-1:]}
    _announce(settings, suite, chosen, names, config, asked)
    from pipeline import launch
    from rollouts.pools import pools_kept

    learn = partial(launch.learn_from_rollouts, workers=config["workers"])
    steps: list[tuple[str, Callable[[], object]]] = []
    for build in names:
        steps += [
            (f"build {build}: play", partial(launch.train_build, settings, build, chosen, config)),
            (f"build {build}: learn", partial(learn, settings, build)),
        ]
    steps += [
        ("evaluate the snapshots", partial(launch.evaluate_snapshots, settings, names, chosen, asked)),
        ("publish analysis.duckdb", partial(launch.publish_analysis, settings)),
        ("write the report", partial(launch.write_report, settings, {"suite": options["suite"]})),
    ]
    with told(), pools_kept():
        for number, (what, step) in enumerate(steps, 1):
            with _timed(f"[{number}/{len(steps)}] {what}"):
                with_progress(step)
    _shown(settings, names[-1], task_counts(suite, chosen, config["tasks"]))


def _announce(
    settings: Settings,
    suite: "Suite",
    groups: Sequence[str],
    builds: Sequence[str],
    config: dict[str, Any],
    asked: dict[str, Any],
) -> None:
    """What is going to be played, before it takes its time."""
    from rollouts.exercise import caveat

    tasks = sum(task_counts(suite, groups, config["tasks"]).values())
    trained, evaluated = tasks * config["episodes"], tasks * asked["episodes"]
    earlier = "" if len(builds) == 1 else f", and {tasks} for each snapshot before it"
    err.print(
        f"{len(builds)} builds of {trained} training episodes, then {evaluated} evaluation episodes each for "
        f"the empty store and the last snapshot{earlier}, with {config['planners']} planner seeds in turn. "
        f"Below {settings.home}.",
        soft_wrap=True,
        markup=False,
    )
    err.print(caveat(settings.model, settings.domain), soft_wrap=True, style="dim")


@contextmanager
def _timed(what: str) -> Iterator[None]:
    started = monotonic()
    yield
    err.print(f"{what}: {monotonic() - started:.0f} s", markup=False)


def _shown(settings: Settings, build: str, tasks: dict[str, int]) -> None:
    from rollouts.evaluation import comparison
    from rollouts.exercise import caveat
    from rollouts.report import report_file

    show(
        _brief(comparison(settings.home, build, tasks)),
        f"The empty store and the snapshot of build {build}, 95 % Wilson intervals",
    )
    out.print(
        f"Evaluation worlds were never trained in. {caveat(settings.model, settings.domain)}", soft_wrap=True
    )
    out.print(f"The report: {report_file(settings.home)}", markup=False, soft_wrap=True)


def _brief(comparison: "pl.DataFrame") -> "pl.DataFrame":
    figures = ["group", "pairs", "empty", "empty_low", "empty_high", "frozen", "frozen_low", "frozen_high"]
    return comparison.select(*figures, "only_empty", "only_frozen")
