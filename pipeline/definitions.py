"""The code location: assets, checks, jobs, schedules, sensors and resources."""

import dagster as dg

from assets.analysis_warehouse import analysis_warehouse
from assets.candidate_reviews import candidate_reviews
from assets.candidate_tryouts import candidate_tryouts
from assets.checks import all_checks
from assets.curated_knowledge import curated_knowledge
from assets.evaluation_rollouts import evaluation_rollouts, seeds_are_disjoint
from assets.handed_in_candidates import handed_in_candidates
from assets.imported_trajectories import imported_trajectories
from assets.knowledge_candidates import knowledge_candidates
from assets.knowledge_snapshot import knowledge_snapshot
from assets.loop_report import loop_report
from assets.studies import studies_ask_in_new_worlds
from assets.success_rates import evaluation_is_no_evidence, success_rates
from assets.training_rollouts import training_rollouts
from assets.typed_feedback import typed_feedback
from pipeline.builds import nightly_build, nightly_schedule
from pipeline.freshness import kept_fresh
from pipeline.full_study import studies
from pipeline.jobs import JOBS
from pipeline.resources import resources
from pipeline.sensors import sensors
from pipeline.settings import Settings

ASSETS = (
    imported_trajectories,
    training_rollouts,
    typed_feedback,
    knowledge_candidates,
    handed_in_candidates,
    candidate_reviews,
    candidate_tryouts,
    curated_knowledge,
    knowledge_snapshot,
    evaluation_rollouts,
    success_rates,
    analysis_warehouse,
    loop_report,
)


def definitions(settings: Settings) -> dg.Definitions:
    """The code location for these settings."""
    whole_build = nightly_build(settings, lambda name: found.resolve_job_def(name))
    found = dg.Definitions(
        assets=[*(kept_fresh(asset, settings) for asset in ASSETS), *studies(settings)],
        asset_checks=[
            *all_checks(),
            seeds_are_disjoint,
            evaluation_is_no_evidence,
            studies_ask_in_new_worlds,
        ],
        jobs=[*JOBS, whole_build],
        schedules=[nightly_schedule(settings, whole_build)],
        sensors=sensors(settings),
        resources=resources(settings),
        # A spawned step costs seconds and these jobs are short; rollouts have a pool of their own.
        executor=dg.in_process_executor,
    )
    return found


defs = definitions(Settings())
