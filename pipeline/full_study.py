"""All studies in one job: makes the curricula that are compared, each in a data home of its own.

    study_builds -> study_rollouts -> the four studies -> studies_report

The builds of a curriculum are Dagster runs in its own data home, as `mineevolve curriculum run` makes them,
so that no curriculum learns from the episodes of another. Whatever is whole is not made again.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import dagster as dg
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assets import metadata
from assets.studies import GROUP, MADE, STUDIES, StudyRolloutsConfig
from pipeline.curricula import Curriculum, chosen, find_curriculum
from pipeline.in_process import RunFailedError
from pipeline.orders import Order, OrderError, order_of, place_order
from pipeline.settings import Settings
from rollouts.agent import FULL
from rollouts.exercise import caveat
from rollouts.pools import pools_kept
from rollouts.progress import note
from rollouts.studies.plan import Checkpoint, Course, StudyPlan, course_home, studies_home, write_plan
from warehouse.database import BusyError
from warehouse.domains import load_domain
from warehouse.snapshots import load_snapshot, published_snapshot
from warehouse.toml_file import TomlFileError, read_toml

SCALES: Final = Path(__file__).with_name("study_scales.toml")
ACCUMULATION: Final = "accumulation"
COMPARED: Final = ("diamond_only", "pretrain_freeze", "mixed")
"""beside the cold start, which is the empty store"""


class ScaleError(ValueError):
    """No scale of this name, or a file that holds none; the text says which there are."""


class Scale(BaseModel):
    """A row of study_scales.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    doc: str = Field(min_length=1)
    training: float = Field(gt=0, le=1)
    hard_worlds: int = Field(gt=0)
    diamond_worlds: int = Field(gt=0)
    planners: int = Field(gt=0)
    tasks_each: int | None = Field(default=None, gt=0)
    horizon_cap: int | None = Field(default=None, gt=0)


def scales(path: Path = SCALES) -> dict[str, Scale]:
    """The scales by name, in the file's order."""
    try:
        rows = read_toml(path)
        return {name: Scale.model_validate(row) for name, row in rows.items()}
    except (TomlFileError, ValidationError) as error:
        raise ScaleError(f"{path}: {error}") from error


def scale_row(name: str) -> Scale:
    """The scale of this name; `ScaleError` lists those there are."""
    held = scales()
    if name not in held:
        raise ScaleError(f"no scale {name}; there are: {', '.join(held)}")
    return held[name]


def curricula(settings: Settings, scale: Scale) -> tuple[Curriculum, ...]:
    """The curricula of the studies at this scale, the accumulation first. A user's own files of these names
    take the place of the shipped ones; `ScaleError` where they cannot be compared."""
    domain = load_domain(settings.domain)
    found = tuple(
        _scaled(find_curriculum(name, settings.curricula, domain), scale)
        for name in (ACCUMULATION, *COMPARED)
    )
    for each in found:
        if each.last is None:
            raise ScaleError(f"{each.file}: a study needs a last build, and this goes on without an end")
        if each.row.agent != FULL:
            raise ScaleError(f"{each.file}: agent: the studies are of {FULL}, not of {each.row.agent}")
        if (each.row.suite, each.row.seed, each.row.horizon_cap) != _alike(found[0]):
            raise ScaleError(f"{each.file}: suite, seed and horizon_cap have to be those of {found[0].file}")
    if len({_asked(each, scale) for each in found[1:]}) > 1:
        raise ScaleError(f"{', '.join(COMPARED)}: [evaluate] has to ask all of them the same tasks")
    return found


def _alike(curriculum: Curriculum) -> tuple[str, int, int | None]:
    return curriculum.row.suite, curriculum.row.seed, curriculum.row.horizon_cap


def _scaled(curriculum: Curriculum, scale: Scale) -> Curriculum:
    """The curriculum with a share of its episodes, at least one of each row."""
    row = curriculum.row
    builds = tuple(
        build.model_copy(
            update={
                "play": tuple(
                    play.model_copy(update={"episodes": max(1, round(scale.training * play.episodes))})
                    for play in build.play
                )
            }
        )
        for build in row.builds
    )
    cap = min((cap for cap in (row.horizon_cap, scale.horizon_cap) if cap is not None), default=None)
    return replace(curriculum, row=row.model_copy(update={"builds": builds, "horizon_cap": cap}))


def _asked(curriculum: Curriculum, scale: Scale) -> tuple[str, ...]:
    """The tasks that its checkpoints are asked."""
    evaluate = curriculum.row.evaluate
    tasks = chosen(curriculum.suite, evaluate.groups, evaluate.tasks)
    if scale.tasks_each is None:
        return tuple(task.id for task in tasks)
    of_groups = ([task.id for task in tasks if task.group == group] for group in curriculum.suite.groups)
    return tuple(task_id for own in of_groups for task_id in own[: scale.tasks_each])


class Size(NamedTuple):
    """How much a scale plays, where nothing is there yet."""

    training: int
    evaluation: int


def size(settings: Settings, name: str) -> Size:
    """The episodes of a scale."""
    scale = scale_row(name)
    found = curricula(settings, scale)
    hard, diamond = (len(_asked(each, scale)) for each in found[:2])
    checkpoints = [len(_orders(each, settings)) for each in found]
    # The accumulation's checkpoints, once more its last one without remedies, and the empty store.
    hard_arms, diamond_arms = checkpoints[0] + 2, sum(checkpoints[1:]) + 1
    both = set(_asked(found[0], scale)) & set(_asked(found[1], scale))
    twice = len(both) * min(scale.hard_worlds, scale.diamond_worlds)
    return Size(
        training=sum(_episodes(order) for each in found for order in _orders(each, settings)),
        evaluation=hard * scale.hard_worlds * hard_arms
        + diamond * scale.diamond_worlds * diamond_arms
        - twice,
    )


def _orders(curriculum: Curriculum, settings: Settings) -> list[Order]:
    planned = (curriculum.build(number) for number in range(1, curriculum.written + 1))
    return [
        order_of(curriculum, build, f"{build.number:04}", settings.model, settings.learning)
        for build in planned
        if build
    ]


def _episodes(order: Order) -> int:
    return sum(order.training["worlds"].values())


def study_builds(settings: Settings) -> dg.AssetsDefinition:
    """The asset that makes the curricula."""

    @dg.asset(
        key=MADE,
        group_name=GROUP,
        kinds={"python", "parquet"},
        code_version="1",
        owners=["team:mineevolve"],
        description="The curricula that are studied (accumulation, and those on Diamond tasks), played and "
        "learnt from build by build, each in a data home of its own below studies/<scale>/curricula/. What "
        "was interrupted is completed, and what is whole is not made again.",
    )
    def made(config: StudyRolloutsConfig) -> dg.MaterializeResult[Any]:
        from pipeline import launch  # which needs the definitions that this asset is one of

        scale = scale_row(config.scale)
        own = studies_home(settings.home, config.scale)
        found = curricula(settings, scale)
        courses = []
        with pools_kept():
            for curriculum in found:
                at = settings.model_copy(update={"data": course_home(own, curriculum.name)})
                orders = _placed(at, curriculum)
                for order in orders:
                    note(f"{curriculum.name}: build {order.build} of {len(orders)}")
                    try:
                        launch.complete_build(at, order, config.workers)
                    except (RunFailedError, BusyError) as error:
                        raise dg.Failure(f"{curriculum.name}, build {order.build}: {error}") from error
                courses.append(_course(at.home, curriculum, orders, scale))
        row = found[0].row
        plan = StudyPlan(
            scale=config.scale,
            doc=scale.doc,
            suite=row.suite,
            agent=row.agent,
            seed=row.seed,
            horizon_cap=row.horizon_cap,
            planners=scale.planners,
            accumulation=courses[0],
            compared=tuple(courses[1:]),
        )
        path = write_plan(own, plan)
        return dg.MaterializeResult(
            metadata={
                "path": dg.MetadataValue.path(str(path)),
                "dagster/row_count": sum(course.total for course in courses),
                "checkpoints": metadata.table(_shown(courses), rows=100),
                "note": caveat(settings.model, settings.venue.world),
            }
        )

    return made


def _placed(settings: Settings, curriculum: Curriculum) -> list[Order]:
    """Its orders; `OrderError` where a build was begun as something else."""
    orders = _orders(curriculum, settings)
    for order in orders:
        placed = place_order(settings.home, order)
        if not placed.is_as(order):
            raise OrderError(
                f"build {order.build} below {settings.home} was begun as something else than "
                f"{curriculum.file} and the settings say now: undo the change, or remove that folder"
            )
    return orders


def _course(home: Path, curriculum: Curriculum, orders: Sequence[Order], scale: Scale) -> Course:
    points = []
    episodes = 0
    for order in orders:
        snapshot_id = published_snapshot(home, order.build)
        assert snapshot_id is not None
        episodes += _episodes(order)
        kinds = [entry.type for entry in load_snapshot(home / "snapshots" / snapshot_id).entries]
        points.append(
            Checkpoint(
                build=order.build,
                episodes=episodes,
                snapshot_id=snapshot_id,
                skills=kinds.count("skill"),
                remedies=kinds.count("remedy"),
            )
        )
    return Course(
        name=curriculum.name,
        doc=curriculum.row.doc,
        tasks=_asked(curriculum, scale),
        worlds=scale.hard_worlds if curriculum.name == ACCUMULATION else scale.diamond_worlds,
        checkpoints=tuple(points),
    )


def _shown(courses: Sequence[Course]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"curriculum": course.name, **point.model_dump()}
            for course in courses
            for point in course.checkpoints
        ]
    )


def studies(settings: Settings) -> list[dg.AssetsDefinition]:
    """All assets of the studies."""
    return [study_builds(settings), *STUDIES]
