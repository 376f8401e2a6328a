"""Inducer over a build's feedback."""

from collections.abc import Iterable
from typing import Any

import dagster as dg
import polars as pl

from assets import columns, metadata
from assets.exercise_config import InducerConfig, LearningModel
from assets.partitions import all_groups_of_the_build, builds
from assets.resources import DataHome
from assets.typed_feedback import typed_feedback
from prompts.inducer import induce
from prompts.language_model import answer_row
from warehouse import log
from warehouse.facts import facts_from
from warehouse.knowledge import Candidate
from warehouse.trace_store import feedback_store, trace_store


@dg.asset(
    partitions_def=builds,
    deps=[dg.AssetDep(typed_feedback, partition_mapping=all_groups_of_the_build)],
    group_name="knowledge",
    kinds={"python", "parquet"},
    code_version="3",
    owners=["team:mineevolve"],
    description="Skills proposed from runs of successes and remedies proposed from failures that are due "
    "(eq. 5), one request per situation (kind, target, failure type, missing prerequisite). Written to the "
    "immutable log; nothing is knowledge before Curator has accepted it.",
)
def knowledge_candidates(
    context: dg.AssetExecutionContext, config: InducerConfig, home: DataHome, model: LearningModel
) -> dg.MaterializeResult[Any]:
    build = context.partition_key
    traces = trace_store(home.root)
    facts = facts_from(
        feedback_store(home.root).scan("feedback", [build]).collect(),
        *(traces.scan(table, [build]).collect() for table in ("attempts", "events", "episodes")),
    )
    with model.inducer(home, build, config) as language_model:
        induction = induce(facts, home.domain, language_model, build)
    pairs = list(zip(induction.requests, induction.answers, strict=True))
    answers = pl.DataFrame(
        [answer_row(request, answer, build) for request, answer in pairs], infer_schema_length=None
    )
    if pairs:
        log.append(home.root, "answers", build, answers)
    log.append(home.root, "candidates", build, log.candidate_rows(induction.candidates))
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": len(induction.candidates),
            "model": language_model.name,
            "requests": len(pairs),
            "answers remembered": sum(answer.spent.cached for answer in induction.answers),
            "answers without a candidate": metadata.table(_unanswered(answers), rows=50) if pairs else "none",
            "candidates": metadata.table(_listed(induction.candidates), rows=50),
            **columns.candidates(),
        }
    )


def _unanswered(answers: pl.DataFrame) -> pl.DataFrame:
    return answers.filter(pl.col("error").is_not_null()).select("role", "error", "error_detail")


def _listed(candidates: Iterable[Candidate]) -> pl.DataFrame:
    rows = log.candidate_rows(candidates)
    return rows.select(
        "candidate_id", "type", "kind", "target", "failure_type", support=pl.col("support").list.len()
    )
