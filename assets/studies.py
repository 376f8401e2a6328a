"""The studies: what is read from curricula that were made (pipeline/full_study.py) and asked, frozen."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import dagster as dg
import polars as pl
from pydantic import Field

from assets import metadata
from assets.exercise_config import ExerciseConfig, LearningModel
from assets.resources import DataHome, Stepping
from prompts.engines.registry import counter_of
from rollouts.agent import agent_row
from rollouts.evaluation import evaluation_home, shared_worlds
from rollouts.exercise import Exercise, caveat, hands
from rollouts.studies import success
from rollouts.studies.columns import NOTES
from rollouts.studies.overhead import overhead
from rollouts.studies.page import of_plan, shown, write_page
from rollouts.studies.plan import Course, StudyPlan, course_home, read_plan, studies_home, write_figures
from rollouts.studies.playing import arms, play, played
from warehouse.suites import find_suite
from warehouse.tasks import Suite

GROUP: Final = "studies"
MADE: Final = dg.AssetKey("study_builds")
_OWNERS: Final = ["team:mineevolve"]
_OF_SUCCESS: Final = (
    "k of n episodes with 95 % Wilson intervals; differences pair by pair (task, world, planner seed) with "
    "a 95 % bootstrap over tasks and planner seeds."
)


class StudyConfig(dg.Config):
    """Which set of studies is meant."""

    scale: str = Field(default="full", description="a row of pipeline/study_scales.toml")


class StudyRolloutsConfig(StudyConfig):
    """The same for what plays."""

    workers: int = Field(default=2, ge=0, description="processes that step worlds; 0: this one does")


@dg.asset(
    deps=[MADE],
    group_name=GROUP,
    kinds={"python", "parquet"},
    code_version="1",
    owners=_OWNERS,
    description="Every checkpoint of every studied curriculum, frozen, in worlds that nothing was learnt in; "
    "the empty store, and the last checkpoint of the accumulation without its remedies, in the same worlds. "
    "Resumable by shards of 16 episodes. What retrievals took goes to telemetry.",
)
def study_rollouts(
    context: dg.AssetExecutionContext,
    config: StudyRolloutsConfig,
    home: DataHome,
    model: LearningModel,
    stepping: Stepping,
) -> dg.MaterializeResult[Any]:
    plan = read_plan(home.root, config.scale)
    own = studies_home(home.root, config.scale)
    with model.mind(home, f"studies-{config.scale}") as mind:

        def exercises(course: Course, agent: str) -> Mapping[str, Exercise]:
            asked = ExerciseConfig(
                suite=plan.suite,
                tasks=list(course.tasks),
                episodes=course.worlds,
                planners=plan.planners,
                crossed=False,
                agent=agent,
                horizon_cap=plan.horizon_cap,
                seed=plan.seed,
            )
            return asked.exercises(home.domain, find_suite(plan.suite, home.domain).groups, mind)

        held = arms(own, plan, exercises)
        with hands(home.domain, agent_row(plan.agent), config.workers, stepping.cluster) as backend:
            play(own, held, backend)
    found = played(held)
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": int(found["episodes"].sum()),
            "arms": metadata.table(found, rows=200),
            "scale": f"{plan.scale}: {plan.doc}",
            "played": of_plan(plan),
            "note": caveat(model.row, home.domain_name),
        }
    )


@dg.asset_check(
    asset=study_rollouts,
    description="No curriculum of any scale was trained in a world that its checkpoints are asked in, by the "
    "records.",
)
def studies_ask_in_new_worlds(home: DataHome) -> dg.AssetCheckResult:
    found = [
        shared_worlds(course_home(own, course.name), evaluation_home(own)).with_columns(
            scale=pl.lit(own.name), curriculum=pl.lit(course.name)
        )
        for own in sorted(path.parent for path in (home.root / "studies").glob("*/plan.json"))
        for course in read_plan(home.root, own.name).courses
    ]
    shared = pl.concat(found) if found else pl.DataFrame()
    return dg.AssetCheckResult(
        passed=shared.is_empty(),
        metadata={"curricula": len(found), "worlds": shared.height, "which": metadata.table(shared)},
    )


@dg.asset(
    deps=[study_rollouts],
    group_name=GROUP,
    kinds={"polars", "altair"},
    code_version="1",
    owners=_OWNERS,
    description="Success on the hard groups after M training episodes of all groups, M = 0 being the empty "
    f"store (the paper's Figure 5 and Table 6): {_OF_SUCCESS}",
)
def accumulation_curve(
    config: StudyConfig, home: DataHome, model: LearningModel
) -> dg.MaterializeResult[Any]:
    plan, own, suite = _read(config, home)
    rows = success.accumulation(own, plan, suite)
    return _result("accumulation", home, plan, rows, model)


@dg.asset(
    deps=[study_rollouts],
    group_name=GROUP,
    kinds={"polars", "altair"},
    code_version="1",
    owners=_OWNERS,
    description="Success on the Diamond tasks by curriculum, at each share of its training episodes (the "
    f"paper's Tables 8 to 10); the cold start is the empty store at each of them. {_OF_SUCCESS}",
)
def curriculum_comparison(
    config: StudyConfig, home: DataHome, model: LearningModel
) -> dg.MaterializeResult[Any]:
    plan, own, suite = _read(config, home)
    rows = success.curricula(own, plan, suite)
    endings = success.endings(own, plan, suite)
    write_figures(own, "endings", endings)
    return _result("curricula", home, plan, rows, model, endings)


@dg.asset(
    deps=[study_rollouts],
    group_name=GROUP,
    kinds={"polars", "altair"},
    code_version="1",
    owners=_OWNERS,
    description="The last snapshot of the accumulation with its remedies and without them (agents `full` and "
    f"`skills_only`), in the same worlds; temporary remedies are on in both. {_OF_SUCCESS} McNemar's test is "
    "descriptive.",
)
def remedy_effectiveness(
    config: StudyConfig, home: DataHome, model: LearningModel
) -> dg.MaterializeResult[Any]:
    plan, own, suite = _read(config, home)
    return _result("remedies", home, plan, success.remedies(own, plan, suite), model)


@dg.asset(
    deps=[study_rollouts],
    group_name=GROUP,
    kinds={"polars", "altair"},
    code_version="1",
    owners=_OWNERS,
    description="What knowledge costs by M (the paper's Table 7): skills and remedies of the snapshot, "
    "tokens of what was retrieved into a prompt (eq. 7, B = 512), time of a retrieval (telemetry), model "
    "calls in an episode. Means with 95 % bootstraps over tasks. Nothing is played for it.",
)
def knowledge_overhead(
    config: StudyConfig, home: DataHome, model: LearningModel
) -> dg.MaterializeResult[Any]:
    plan, own, _ = _read(config, home)
    return _result("overhead", home, plan, overhead(own, plan, counter_of(model.chosen)), model)


@dg.asset(
    deps=[accumulation_curve, curriculum_comparison, remedy_effectiveness, knowledge_overhead],
    group_name=GROUP,
    kinds={"html", "altair"},
    code_version="1",
    owners=_OWNERS,
    description="studies/<scale>/report/index.html, one self-contained page with a section for each study: "
    "its figure, what it says, k, n and intervals.",
)
def studies_report(config: StudyConfig, home: DataHome, model: LearningModel) -> dg.MaterializeResult[Any]:
    path = write_page(home.root, config.scale, caveat(model.row, home.domain_name))
    return dg.MaterializeResult(
        metadata={"path": dg.MetadataValue.path(str(path)), "note": caveat(model.row, home.domain_name)}
    )


STUDIES: Final = (
    study_rollouts,
    accumulation_curve,
    curriculum_comparison,
    remedy_effectiveness,
    knowledge_overhead,
    studies_report,
)
PLAY: Final = (MADE.to_user_string(), "study_rollouts")
"""those that play: they are told how many processes step worlds"""
READ: Final = (
    "accumulation_curve",
    "curriculum_comparison",
    "remedy_effectiveness",
    "knowledge_overhead",
    "studies_report",
)
"""those that read what was played"""


def _read(config: StudyConfig, home: DataHome) -> tuple[StudyPlan, Path, Suite]:
    plan = read_plan(home.root, config.scale)
    return plan, studies_home(home.root, config.scale), find_suite(plan.suite, home.domain)


def _result(
    name: str,
    home: DataHome,
    plan: StudyPlan,
    rows: pl.DataFrame,
    model: LearningModel,
    more: pl.DataFrame | None = None,
) -> dg.MaterializeResult[Any]:
    path = write_figures(studies_home(home.root, plan.scale), name, rows)
    study = shown(name, rows, more)
    beside = {} if more is None else {"two by two": metadata.table(more, rows=100)}
    return dg.MaterializeResult(
        metadata={
            "path": dg.MetadataValue.path(str(path)),
            "dagster/row_count": rows.height,
            "what it says": dg.MetadataValue.md("\n".join(f"- {line}" for line in study.said)),
            "figure": metadata.figure(study.chart, name, caveat(model.row, home.domain_name)),
            "table": metadata.table(rows, rows=200),
            "dagster/column_schema": metadata.table_schema(rows, NOTES),
            **beside,
            "scale": f"{plan.scale}: {plan.doc}",
            "played": of_plan(plan),
            "note": caveat(model.row, home.domain_name),
        }
    )
