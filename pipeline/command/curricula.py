"""What `mineevolve curriculum` does."""

import os
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from pipeline.command.console import FAILED, MISUSED, err, explained, fail, out, show
from pipeline.command.rollouts import task_counts, told, with_progress
from pipeline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipeline.curricula import Curriculum, PlannedBuild
    from pipeline.orders import Order


def listed() -> None:
    """All of them; one with a mistake in it is listed as such."""
    import polars as pl

    from pipeline.curricula import CurriculumFileError, curriculum_files, load_curriculum
    from warehouse.domains import load_domain

    settings = Settings()
    rows: list[dict[str, Any]] = []
    for name, path in curriculum_files(settings.curricula).items():
        try:
            found = load_curriculum(path, load_domain(settings.domain))
        except CurriculumFileError as error:
            rows.append({"name": name, "builds": None, "episodes": None, "what": str(error)})
            continue
        builds = _builds(found, found.written)
        end = "" if found.last else " and so on"
        rows.append(
            {
                "name": name,
                "builds": f"{len(builds)}{end}",
                "episodes": sum(sum(build.episodes.values()) for build in builds),
                "what": found.row.doc,
            }
        )
    show(pl.DataFrame(rows, infer_schema_length=None), "Curricula")


def shown(name: str, number: int | None) -> None:
    """The builds of a curriculum, or the tasks of one of them."""
    import polars as pl

    found = _found(Settings(), name)
    if number is not None:
        build = found.build(number)
        if build is None:
            raise fail(f"{found.name} has {found.last} builds", MISUSED)
        rows = [
            {"task": task.id, "episodes": build.episodes[task.id], "goal": task.instruction}
            for task in found.suite.tasks
            if task.id in build.episodes
        ]
        show(pl.DataFrame(rows), f"Build {number} of {found.name}")
        return
    rows = []
    total = 0
    for build in _builds(found, found.written):
        total += sum(build.episodes.values())
        rows.append(
            {
                "build": build.number,
                "episodes": sum(build.episodes.values()),
                "so far": total,
                "learns": build.update_store,
                "groups": ", ".join(f"{group} {count}" for group, count in _by_group(found, build).items()),
            }
        )
    out.print(f"[bold]{found.name}[/]: {found.row.doc}", soft_wrap=True)
    show(pl.DataFrame(rows))
    if found.last is None:
        out.print("The last row is repeated without an end.")
    asked = found.row.evaluate
    turns = "each" if asked.crossed else "in turn"
    out.print(
        f"Each snapshot is asked in {', '.join(asked.groups)}: {asked.worlds} worlds per task, "
        f"{asked.planners} planner seeds {turns}.",
        soft_wrap=True,
    )


def checked(names: Sequence[str]) -> None:
    """Says of each curriculum that it holds, or what is wrong with it; ends with 1 where anything is."""
    from pipeline.curricula import (
        CurriculumFileError,
        UnknownCurriculumError,
        curriculum_files,
        find_curriculum,
    )
    from warehouse.domains import load_domain

    settings = Settings()
    domain = load_domain(settings.domain)
    wrong = 0
    for name in names or curriculum_files(settings.curricula):
        try:
            found = find_curriculum(name, settings.curricula, domain)
            out.print(f"{found.file}: {found.written} builds, as it should be", markup=False, soft_wrap=True)
        except (CurriculumFileError, UnknownCurriculumError) as error:
            wrong += 1
            out.print(str(error), markup=False, soft_wrap=True)
    if wrong:
        raise fail(f"curricula with a mistake in them: {wrong}", FAILED)


def made(
    name: str,
    builds: int | None,
    workers: int,
    home: Path | None,
    where: Mapping[str, str],
    *,
    evaluate: bool,
) -> None:
    """Orders and completes the builds, evaluates them, writes the report, and shows the checkpoints. `where`
    are settings of where worlds are stepped."""
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")
    settings = Settings(**where)
    found = _found(settings, name)
    if builds is not None and found.last is not None and builds > found.last:
        raise fail(f"{found.name} has {found.last} builds", MISUSED)
    own = settings.model_copy(update={"data": home or settings.home / "curricula" / found.name})
    from pipeline.orders import OrderError, is_evaluated
    from rollouts.exercise import caveat

    with explained(OrderError, code=MISUSED):
        orders = _orders(own, found, builds or found.written)
    err.print(f"{len(orders)} builds of {found.name}, below {own.home}", markup=False, soft_wrap=True)
    err.print(caveat(settings.model, settings.venue.world), soft_wrap=True, style="dim")
    from pipeline import launch
    from rollouts.pools import pools_kept
    from warehouse.domains import load_domain

    domain = load_domain(settings.domain)
    with told(), pools_kept():
        for order in orders:
            with _timed(f"build {order.build}: play and learn"):
                with_progress(partial(launch.complete_build, own, order, workers))
        for order in orders if evaluate else ():
            if is_evaluated(own.home, order, domain):
                continue
            config = order.evaluation | {"workers": workers}
            with _timed(f"build {order.build}: evaluate"):
                with_progress(partial(launch.evaluate_snapshot, own, order.build, order.asked, config))
        with _timed("publish analysis.duckdb"):
            launch.publish_analysis(own)
        if evaluate:
            with _timed("write the report"):
                launch.write_report(own, {"suite": found.row.suite})
    _checkpoints(own, found, orders, evaluated=evaluate)


def _orders(settings: Settings, found: "Curriculum", builds: int) -> "list[Order]":
    """The orders of the first builds, as the file and the settings have them; a build that was ordered
    otherwise is an `OrderError`. How snapshots are evaluated may have changed since."""
    from pipeline.orders import OrderError, order_of, place_order

    orders = []
    for build in _builds(found, builds):
        wanted = order_of(found, build, f"{build.number:04}", settings.model, settings.learning)
        placed = place_order(settings.home, wanted)
        if not placed.is_as(wanted):
            raise OrderError(
                f"build {placed.build} below {settings.home} was begun as something else than {found.file} "
                "and the settings say now: undo the change, give the curriculum another name, or another "
                "home with --out"
            )
        orders.append(wanted)
    return orders


def _checkpoints(
    settings: Settings, found: "Curriculum", orders: "Sequence[Order]", *, evaluated: bool
) -> None:
    import polars as pl

    from rollouts.evaluation import comparison
    from rollouts.exercise import caveat
    from rollouts.report import report_file
    from warehouse.snapshots import load_snapshot, published_snapshot

    rows = []
    total = 0
    for order in orders:
        total += sum(order.training["worlds"].values())
        snapshot_id = published_snapshot(settings.home, order.build)
        assert snapshot_id is not None
        entries = len(load_snapshot(settings.home / "snapshots" / snapshot_id).entries)
        row: dict[str, Any] = {"build": order.build, "episodes": total, "entries": entries}
        if evaluated:
            tasks = task_counts(found.suite, order.asked, order.evaluation["tasks"])
            whole = comparison(settings.home, order.build, tasks).row(-1, named=True)
            figures = ("pairs", "empty", "empty_low", "empty_high", "frozen", "frozen_low", "frozen_high")
            row |= {figure: whole[figure] for figure in figures}
        rows.append(row)
    show(pl.DataFrame(rows, infer_schema_length=None), "Checkpoints, 95 % Wilson intervals")
    out.print(caveat(settings.model, settings.venue.world), soft_wrap=True)
    if evaluated:
        out.print(f"The report: {report_file(settings.home)}", markup=False, soft_wrap=True)


def _found(settings: Settings, name: str) -> "Curriculum":
    from pipeline.curricula import CurriculumFileError, UnknownCurriculumError, find_curriculum
    from warehouse.domains import load_domain

    with explained(CurriculumFileError, UnknownCurriculumError, code=MISUSED):
        return find_curriculum(name, settings.curricula, load_domain(settings.domain))


def _builds(found: "Curriculum", builds: int) -> "list[PlannedBuild]":
    return [build for number in range(1, builds + 1) if (build := found.build(number))]


def _by_group(found: "Curriculum", build: "PlannedBuild") -> dict[str, int]:
    return {
        group: sum(build.episodes.get(task.id, 0) for task in found.suite.tasks if task.group == group)
        for group in build.groups
    }


@contextmanager
def _timed(what: str) -> "Iterator[None]":
    started = monotonic()
    yield
    err.print(f"{what}: {monotonic() - started:.0f} s", markup=False)
