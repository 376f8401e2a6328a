"""New knowledge played out in the worlds that it was drawn from, between two passes of Curator."""

from functools import partial
from typing import Any

import dagster as dg
import polars as pl
from pydantic import Field

from assets import columns, metadata
from assets.candidate_reviews import candidate_reviews
from assets.handed_in_candidates import handed_in_candidates
from assets.knowledge_candidates import knowledge_candidates
from assets.partitions import builds
from assets.resources import DataHome, Stepping, TryOuts
from prompts.engines.models import RULES
from rollouts.agent import FULL, agent_row
from rollouts.exercise import caveat, hands
from rollouts.tryout import Tried, TriedOut, try_out
from warehouse import log
from warehouse.first_pass import newcomers, undecided
from warehouse.fold import curator
from warehouse.trace_store import trace_store


class TryOutConfig(dg.Config):
    """Who plays; it cannot be seen in what is stored."""

    workers: int = Field(default=0, ge=0, description="processes that step worlds; 0: this one does")


# Not in the pool of the warehouse: it is needed for a moment only.
@dg.asset(
    partitions_def=builds,
    deps=[knowledge_candidates, handed_in_candidates, candidate_reviews],
    group_name="knowledge",
    kinds={"python", "parquet"},
    code_version="1",
    owners=["team:mineevolve"],
    description="What Curator would accept as new entries, carried out from the situations that it was drawn "
    "from, with it and without, in training worlds alone; written to the immutable log. What does harm, or "
    "never leads to what it is for, Curator refuses. Takes at most MINEEVOLVE_TRYOUTS (0.15; 0: off) of the "
    "build's game ticks. Recordings have no world to try anything out in.",
)
def candidate_tryouts(
    context: dg.AssetExecutionContext,
    config: TryOutConfig,
    home: DataHome,
    tryouts: TryOuts,
    stepping: Stepping,
) -> dg.MaterializeResult[Any]:
    build = context.partition_key
    if not tryouts.share:
        return dg.MaterializeResult(
            metadata={
                "try-outs": "off: MINEEVOLVE_TRYOUTS gives them a share of the build's game ticks",
                "rows of earlier runs": log.read(home.root, "tryouts", [build]).height,
            }
        )
    played = trace_store(home.root).scan("episodes", [build]).filter(pl.col("world_seed").is_not_null())
    if played.limit(1).collect().is_empty():
        return dg.MaterializeResult(
            metadata={"try-outs": "none: nothing of this build was played in a world that can be seeded"}
        )
    before = undecided(home.root, build)
    new = newcomers(before, curator(home.domain, home.curation), before.evidence.reviews)
    row = agent_row(FULL)
    backend = partial(hands, home.domain, row, config.workers, stepping.cluster)
    found = try_out(new, before.evidence, home.domain, tryouts.share, row.executor, backend)
    log.append(home.root, "tryouts", build, log.tryout_rows(build, found.rows))
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": len(found.rows),
            **columns.tryouts(),
            **metadata.counts(_counted(found)),
            "tried out": metadata.table(_listed(found), rows=100),
            "note": caveat(RULES, home.domain_name),
        }
    )


def _counted(found: TriedOut) -> list[tuple[str, int]]:
    return [
        ("new entries", len(found.entries)),
        ("tried out", sum(each.tally.pairs > 0 for each in found.entries)),
        ("without a situation that can be played", sum(not each.situations for each in found.entries)),
        ("arms played", len(found.rows)),
        ("arms remembered", found.remembered),
        ("pairs lost", found.lost),
        ("game ticks allowed", found.budget),
        ("game ticks spent", found.spent),
    ]


def _listed(found: TriedOut) -> pl.DataFrame:
    rows = [_entry(each) for each in found.entries if each.tally.pairs]
    schema = {
        **dict.fromkeys(("entry_id", "type", "kind", "target", "failure_type", "finding"), pl.String()),
        **dict.fromkeys(("pairs", "only_with", "only_without", "both", "neither"), pl.Int64()),
    }
    return pl.DataFrame(rows, schema=schema)


def _entry(each: Tried) -> dict[str, Any]:
    candidate = each.proposal.candidate
    named = log.knowledge_columns(candidate.domain, candidate.trigger, candidate.content)
    of_entry = {name: named[name] for name in ("type", "kind", "target", "failure_type")}
    found = {"entry_id": each.proposal.entry_id, "finding": each.finding, "pairs": each.tally.pairs}
    return of_entry | found | each.tally._asdict()
