"""Which columns the page's tables have, and what they are called there."""

from typing import Final

from rollouts.report.tables import Column

_EMPTY: Final = "empty store"
_FROZEN: Final = "frozen knowledge"
_PAIRS: Final = "pairs won"
_DIFFERENCE: Final = "difference, points"

_BOTH: Final = (
    Column("empty_of", "k / n", "amount", _EMPTY),
    Column("empty", "share", "share", _EMPTY),
    Column("empty_interval", "95 %", "interval", _EMPTY),
    Column("frozen_of", "k / n", "amount", _FROZEN),
    Column("frozen", "share", "share", _FROZEN),
    Column("frozen_interval", "95 %", "interval", _FROZEN),
)
_DIFFERING: Final = (
    Column("only_frozen", "only with", "count", _PAIRS),
    Column("only_empty", "only without", "count", _PAIRS),
)
SUCCESS: Final = (
    Column("name", "group"),
    Column("tasks", "tasks", "count"),
    *_BOTH,
    Column("difference", "mean", "difference", _DIFFERENCE),
    Column("difference_interval", "95 %", "points", _DIFFERENCE),
    Column("effect", "verdict", "effect"),
)
PAIRS: Final = (
    Column("name", "group"),
    Column("pairs", "pairs", "count"),
    Column("both", "in both arms", "count", "succeeded"),
    Column("only_frozen", "only with knowledge", "count", "succeeded"),
    Column("only_empty", "only without", "count", "succeeded"),
    Column("neither", "in neither", "count", "succeeded"),
    Column("mcnemar_p", "McNemar p", "p"),
    Column("excluded", "excluded for the infrastructure", "count"),
)
BY_TASK: Final = (
    Column("group", "group"),
    Column("task_id", "task", "id"),
    Column("goal", "goal"),
    *(column for column in _BOTH if "interval" not in column.name),
    *_DIFFERING,
    Column("excluded", "excluded", "count"),
)
BY_SEED: Final = (
    Column("planner_seed", "planner seed", "count"),
    Column("pairs", "pairs", "count"),
    Column("empty", "empty store", "share"),
    Column("frozen", "frozen knowledge", "share"),
    Column("difference", "difference, points", "difference"),
    *_DIFFERING,
    Column("excluded", "excluded", "count"),
)
ACCUMULATION: Final = (
    Column("name", "group"),
    Column("arm", "snapshot of build"),
    Column("k", "k", "count"),
    Column("n", "n", "count"),
    Column("share", "share", "share"),
    Column("interval", "95 %", "interval"),
)
MIX: Final = (
    Column("failure_type", "failure type", "id"),
    Column("empty", "attempts", "count", _EMPTY),
    Column("empty_share", "share", "share", _EMPTY),
    Column("frozen", "attempts", "count", _FROZEN),
    Column("frozen_share", "share", "share", _FROZEN),
)
ENDS: Final = (
    Column("end_reason", "the episode ended with", "id"),
    Column("empty", _EMPTY, "count"),
    Column("frozen", _FROZEN, "count"),
)
STAGNATION: Final = (
    Column("rule", "stagnation by"),
    Column("empty_of", "attempts", "amount", _EMPTY),
    Column("empty_share", "share", "share", _EMPTY),
    Column("frozen_of", "attempts", "amount", _FROZEN),
    Column("frozen_share", "share", "share", _FROZEN),
)
GROWTH: Final = (
    Column("build", "build"),
    Column("candidates", "candidates", "count", "in this build"),
    Column("accepted", "accepted", "count", "in this build"),
    Column("rejected", "rejected", "count", "in this build"),
    Column("merged", "merged", "count", "in this build"),
    Column("active", "active", "count", "after it"),
    Column("demoted", "demoted", "count", "after it"),
    Column("skills", "skills", "count", "after it"),
    Column("remedies", "remedies", "count", "after it"),
    Column("retired", "retired", "count", "after it"),
    Column("mean_confidence", "mean confidence", "figure", "after it"),
    Column("tokens", "tokens", "count", "after it"),
    Column("snapshot_id", "snapshot", "id", "after it"),
)
REJECTIONS: Final = (
    Column("build", "build"),
    Column("rule", "rule that was broken", "id"),
    Column("candidates", "candidates", "count"),
)
_ABOUT: Final = (
    Column("entry_id", "entry", "entry"),
    Column("type", "type"),
    Column("kind", "kind"),
    Column("target", "target"),
    Column("failure_type", "remedy for", "id"),
    Column("status", "frozen as"),
)
USED: Final = (
    *_ABOUT,
    Column("episodes", "used", "count", "episodes"),
    Column("won", "won", "count", "episodes"),
    Column("lost", "lost", "count", "episodes"),
    Column("attempts", "used", "count", "subgoals"),
    Column("succeeded", "succeeded", "count", "subgoals"),
    Column("failed", "failed", "count", "subgoals"),
    Column("confidence", "confidence", "figure"),
)
TRAINED: Final = (
    *_ABOUT,
    Column("confidence", "confidence", "figure"),
    Column("uses", "uses", "count", "in training"),
    Column("wins", "wins", "count", "in training"),
    Column("support_episodes", "episodes of evidence", "count", "in training"),
)
EFFORT: Final = (
    Column("arm", "arm"),
    Column("episodes", "played", "count", "episodes"),
    Column("planned", "planned", "count", "episodes"),
    Column("recorded", "with a record", "count", "episodes"),
    Column("plans", "plans", "count", "model calls"),
    Column("repairs", "repairs", "count", "model calls"),
    Column("retries", "retries", "count", "model calls"),
    Column("diagnoses", "diagnoses", "count", "model calls"),
    Column("used_mean", "mean", "figure", "used, per episode"),
    Column("used_most", "most", "count", "used, per episode"),
    Column("allowed", "allowed", "count", "used, per episode"),
    Column("spent", "all spent", "count"),
    Column("tried_again", "retried", "count"),
)
GROUPS: Final = (
    Column("group", "group"),
    Column("tasks", "played", "count", "tasks"),
    Column("suite_tasks", "in the suite", "count", "tasks"),
    Column("worlds", "worlds per task", "count"),
    Column("planner_seeds", "in all", "count", "planner seeds"),
    Column("per_world", "per world", "count", "planner seeds"),
    Column("episodes", "played", "count", "episodes per arm"),
    Column("planned", "planned", "count", "episodes per arm"),
    Column("horizon_low", "shortest", "count", "horizon, ticks"),
    Column("horizon_high", "longest", "count", "horizon, ticks"),
    Column("capped", "tasks capped", "count"),
)
PARAMETERS: Final = (
    Column("path", "file", "id"),
    Column("sha256", "sha256", "id"),
    Column("changes", "changes since the first evaluation", "count"),
    Column("last", "reason of the present state"),
)
EVIDENCE: Final = (
    Column("feedback_id", "feedback", "id"),
    Column("episode_id", "episode", "id"),
    Column("where", "recorded in"),
    Column("attempt", "attempt", "count"),
    Column("ticks", "ticks", "amount"),
    Column("found", "found", "id"),
    Column("said", "evidence, as recorded"),
)
DECISIONS: Final = (
    Column("decided_in", "build"),
    Column("decision_id", "accepted by decision", "id"),
    Column("candidate_id", "candidate", "id"),
    Column("engine", "proposed by"),
)
SWEEP: Final = (
    Column("group", "group"),
    Column("misconceptions", "share of wrong facts", "share"),
    Column("arm", "arm"),
    Column("k", "k", "count"),
    Column("n", "n", "count"),
    Column("share", "share", "share"),
    Column("interval", "95 %", "interval"),
)
