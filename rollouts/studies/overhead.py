"""What knowledge costs as it accumulates: entries, tokens in a prompt, retrieval time, model calls.

All of it is read from what was stored, and nothing is played for it: entries from the snapshots, tokens from
the answer log, whose situations hold the entries that were shown, calls from the budgets beside the episodes,
and times from telemetry, which is outside of every hash: they differ from run to run.
"""

from pathlib import Path
from typing import Final

import numpy as np
import orjson
import polars as pl
from numpy.typing import NDArray
from scipy.stats import bootstrap

from prompts.planning import PlanSituation, RepairSituation
from prompts.rendering import render_knowledge
from prompts.tokens import TokenCounter
from rollouts.evaluation import EMPTY, FROZEN, NOBODY, evaluation_home
from rollouts.planner import KNOWLEDGE_TOKENS
from rollouts.recorder import kept_beside
from rollouts.studies.plan import StudyPlan, filed_as
from rollouts.studies.playing import episodes_with
from warehouse import log, telemetry
from warehouse.trace_store import trace_store

REPLICATES: Final = 2_000
ALLOWED: Final = KNOWLEDGE_TOKENS
OVERHEAD: Final = pl.Schema(
    {
        **dict.fromkeys(("episodes", "skills", "remedies", "prompts"), pl.Int64()),
        **dict.fromkeys(("tokens", "tokens_low", "tokens_high"), pl.Float64()),
        **dict.fromkeys(("tokens_most", "played"), pl.Int64()),
        **dict.fromkeys(("calls", "calls_low", "calls_high"), pl.Float64()),
        **dict.fromkeys(("calls_most", "retrievals"), pl.Int64()),
        **dict.fromkeys(("median_ms", "p05_ms", "p95_ms"), pl.Float64()),
    }
)
_ASKED: Final = ("planner", "adaptor")


def overhead(own: Path, plan: StudyPlan, counter: TokenCounter) -> pl.DataFrame:
    """One row per checkpoint of the accumulation, the empty store first:

    `episodes` (M), `skills` and `remedies` of the snapshot; `prompts` (different ones, to planner and
    adaptor) with the mean of `tokens` that retrieved entries take in them, its interval and `tokens_most`;
    `played` episodes and the mean of `calls` to the model in one (plan, repairs, retries and diagnoses), its
    interval and `calls_most`; `retrievals` that were timed with `median_ms` and `p05_ms`, `p95_ms`, null
    where none was. Intervals are 95 % bootstraps over tasks.
    """
    course = plan.accumulation
    filed = [(0, NOBODY, 0, 0)]
    filed += [
        (each.episodes, filed_as(course, each), each.skills, each.remedies) for each in course.checkpoints
    ]
    rows = []
    for m, name, skills, remedies in filed:
        episodes = episodes_with(own, name, course.tasks).select("episode_id", "task_id")
        row: dict[str, object] = {"episodes": m, "skills": skills, "remedies": remedies}
        rows.append(row | _tokens(own, name, counter) | _calls(own, name, episodes) | _times(own, name))
    return pl.DataFrame(rows, schema=OVERHEAD, orient="row")


def _tokens(own: Path, filed: str, counter: TokenCounter) -> dict[str, object]:
    answers = log.read(evaluation_home(own), "answers", [filed]).filter(pl.col("role").is_in(_ASKED))
    rows = []
    known: dict[bytes, int] = {}
    for role, situation in (
        answers.unique("request_id").sort("request_id").select("role", "situation").iter_rows()
    ):
        read = orjson.loads(situation)
        shown = orjson.dumps([read["skills"], read["remedies"]])
        if shown not in known:
            model = RepairSituation if role == "adaptor" else PlanSituation
            entries = model.model_validate_json(situation)
            blocks = [render_knowledge(part) for part in (entries.skills, entries.remedies) if part]
            known[shown] = sum(counter.count(block) for block in blocks)
        rows.append({"goal": read["goal"]["text"], "value": known[shown]})
    if not rows:
        return {"prompts": 0} | dict.fromkeys(("tokens", "tokens_low", "tokens_high", "tokens_most"))
    # A prompt names its goal in the task's own words, and no two tasks have the same.
    frame = pl.DataFrame(rows)
    mean, low, high = mean_over(frame, "goal")
    most = max(row["value"] for row in rows)
    figures = {"tokens": mean, "tokens_low": low, "tokens_high": high, "tokens_most": most}
    return {"prompts": frame.height, **figures}


def _calls(own: Path, filed: str, episodes: pl.DataFrame) -> dict[str, object]:
    home = evaluation_home(own)
    source = EMPTY if filed == NOBODY else FROZEN
    groups = [group for group, name in trace_store(home).sources(filed) if name == source]
    budgets = pl.concat(kept_beside(home, filed, group, source, "budgets") for group in groups)
    held = (
        budgets.unique("episode_id")
        .join(episodes, on="episode_id")
        .with_columns(value=pl.col("used") + pl.col("diagnoses"))
        .sort("episode_id")
    )
    mean, low, high = mean_over(held, "task_id")
    most = max(held["value"])
    figures = {"calls": mean, "calls_low": low, "calls_high": high, "calls_most": most}
    return {"played": held.height, **figures}


def _times(own: Path, filed: str) -> dict[str, object]:
    timed = telemetry.read_retrievals(own).filter(pl.col("build") == filed)["seconds"]
    names = {"median_ms": 0.5, "p05_ms": 0.05, "p95_ms": 0.95}
    known = {name: timed.quantile(at, "linear") for name, at in names.items()}
    return {"retrievals": len(timed)} | {
        name: None if value is None else 1000 * value for name, value in known.items()
    }


def mean_over(rows: pl.DataFrame, cluster: str) -> tuple[float, float | None, float | None]:
    """The mean of `value` with its 95 % bootstrap interval, for which whole clusters (tasks) are drawn again:
    what one task asks for is alike in all of its episodes. No interval of a single cluster."""
    sums = rows.group_by(cluster).agg(pl.col("value").sum().cast(pl.Float64), n=pl.len()).sort(cluster)
    value, n = sums["value"].to_numpy(), sums["n"].cast(pl.Float64).to_numpy()
    mean = float(value.sum() / n.sum())
    if sums.height < 2:
        return mean, None, None

    def ratio(of: NDArray[np.float64], by: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        found: NDArray[np.float64] = of.sum(axis=axis) / by.sum(axis=axis)
        return found

    drawn = bootstrap(
        (value, n), ratio, paired=True, vectorized=True, n_resamples=REPLICATES, method="percentile",
        rng=np.random.default_rng(0),
    )  # fmt: skip
    return mean, float(drawn.confidence_interval.low), float(drawn.confidence_interval.high)
