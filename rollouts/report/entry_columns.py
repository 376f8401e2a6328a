"""Which columns the tables of an entry's page have, and what they are called there."""

from typing import Final

from rollouts.report.tables import Column

EVIDENCE: Final = (
    Column("map", "map", "count"),
    Column("build", "build"),
    Column("found", "found"),
    Column("said", "where it shows, as recorded"),
    Column("attempt", "attempt", "count"),
    Column("ticks", "ticks", "amount"),
    Column("where", "file"),
    Column("world", "world"),
    Column("episode_id", "episode", "id"),
    Column("feedback_id", "feedback", "id"),
)
BACKTESTS: Final = (
    Column("build", "build"),
    Column("candidate_id", "candidate", "id"),
    Column("verdict", "verdict"),
    Column("fired", "fired", "count", "attempts"),
    Column("hits", "as it says", "count", "attempts"),
    Column("successes", "succeeded", "count", "attempts"),
    Column("unknown", "unknown", "count", "attempts"),
    Column("precision", "precision", "share"),
    Column("recall", "recall", "share"),
    Column("detail", "in words"),
)
TRYOUTS: Final = (
    Column("build", "build"),
    Column("pairs", "pairs", "count"),
    Column("both", "in both arms", "count", "succeeded"),
    Column("only_with", "only with it", "count", "succeeded"),
    Column("only_without", "only without", "count", "succeeded"),
    Column("neither", "in neither", "count", "succeeded"),
    Column("undecided", "undecided", "count"),
    Column("ticks", "game ticks", "count"),
)
USES: Final = (
    Column("build", "build"),
    Column("task", "task"),
    Column("episode_id", "episode", "id"),
    Column("attempt", "attempt", "count"),
    Column("subgoal", "subgoal"),
    Column("outcome", "outcome"),
    Column("found", "found"),
)
NEIGHBOURS: Final = (
    Column("entry_id", "entry", "id"),
    Column("type", "type"),
    Column("failure_type", "remedy for"),
    Column("status", "status"),
    Column("confidence", "confidence", "figure"),
    Column("support_episodes", "episodes of evidence", "count"),
    Column("uses", "used", "count", "episodes"),
    Column("wins", "won", "count", "episodes"),
)
CONFLICTS: Final = (
    Column("build", "build"),
    Column("entry_id", "against", "id"),
    Column("about", "about"),
    Column("decided", "decided"),
    Column("status", "stands now as"),
    Column("confidence", "confidence", "figure"),
)
DECISIONS: Final = (
    Column("build", "build"),
    Column("verdict", "decided"),
    Column("candidate_id", "on candidate", "id"),
    Column("engine", "proposed by"),
    Column("reasons", "because"),
    Column("merged_into", "went into", "id"),
    Column("decision_id", "decision", "id"),
)
VERSIONS: Final = (
    Column("build", "build"),
    Column("version", "version", "count"),
    Column("status", "status"),
    Column("confidence", "confidence", "figure"),
    Column("support_episodes", "episodes of evidence", "count"),
    Column("uses", "used", "count", "episodes"),
    Column("wins", "won", "count", "episodes"),
)
