"""A second opinion on a build's candidates, between two passes of Curator."""

from functools import partial
from typing import Any

import dagster as dg
import polars as pl

from assets import columns, metadata
from assets.handed_in_candidates import handed_in_candidates
from assets.knowledge_candidates import knowledge_candidates
from assets.partitions import builds
from assets.resources import DataHome, Reviewer
from prompts.engines.registry import counter_of
from prompts.language_model import answer_row
from prompts.review import Reviewed, review
from warehouse import log
from warehouse.first_pass import newcomers, undecided
from warehouse.fold import curator


# Not in the pool of the warehouse: a model may take hours, and the warehouse is needed for a moment only.
@dg.asset(
    partitions_def=builds,
    deps=[knowledge_candidates, handed_in_candidates],
    group_name="knowledge",
    kinds={"python", "parquet"},
    code_version="1",
    owners=["team:mineevolve"],
    description="A model's verdicts on the candidates that Curator would accept as new entries, written to "
    "the immutable log. It can refuse one, with a reason, and never lets in what the checks refused; without "
    "a usable answer a candidate stands. Off unless MINEEVOLVE_REVIEWER names a model.",
)
def candidate_reviews(
    context: dg.AssetExecutionContext, home: DataHome, reviewer: Reviewer
) -> dg.MaterializeResult[Any]:
    build = context.partition_key
    if not reviewer.is_on:
        return dg.MaterializeResult(
            metadata={
                "review": "off: MINEEVOLVE_REVIEWER names a model to ask",
                "verdicts of earlier runs": log.read(home.root, "reviews", [build]).height,
            }
        )
    curate = curator(home.domain, home.curation)
    before = undecided(home.root, build)
    evidence = before.evidence
    facts = evidence.facts
    with reviewer.answering(home, build) as models:
        model = models(reviewer.seed)
        standing, counter = partial(newcomers, before, curate), counter_of(reviewer.chosen)
        found = review(standing, facts, before.store.values(), home.domain, model, counter)
    pairs = zip(found.requests, found.answers, strict=True)
    answers = [answer_row(request, answer, build) for request, answer in pairs]
    if answers:
        log.append(home.root, "answers", build, pl.DataFrame(answers, infer_schema_length=None))
    log.append(home.root, "reviews", build, log.review_rows(build, found.verdicts))
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": len(found.verdicts),
            **columns.reviews(),
            "model": model.name,
            **metadata.counts(_counted(found)),
            "refused": metadata.table(_refused(found), rows=50),
            "answers without a verdict": metadata.table(_unanswered(found), rows=50),
        }
    )


def _counted(found: Reviewed) -> list[tuple[str, int]]:
    return [
        ("candidates asked about", found.asked),
        ("kept", sum(verdict.verdict == "accepted" for verdict in found.verdicts)),
        ("requests", len(found.requests)),
        ("answers remembered", sum(answer.spent.cached for answer in found.answers)),
    ]


def _refused(found: Reviewed) -> pl.DataFrame:
    rows = [
        {"candidate_id": one.candidate_id, "reason": one.reason}
        for one in found.verdicts
        if one.verdict == "rejected"
    ]
    return pl.DataFrame(rows, schema={"candidate_id": pl.String, "reason": pl.String})


def _unanswered(found: Reviewed) -> pl.DataFrame:
    rows = [
        {"request_id": answer.request_id, "error": answer.error.reason, "detail": answer.error.detail}
        for answer in found.answers
        if answer.error is not None
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("request_id", "error", "detail"), pl.String))
