"""Everything that is known of one entry: what it says, what it rests on, how it was tested and used, what
stands beside and against it, and what was decided of it when. Read from the published warehouse."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from prompts.rendering import render_entry
from warehouse.analysis import query
from warehouse.confidence import Interval, interval
from warehouse.database import statement
from warehouse.entries import Entry
from warehouse.knowledge import Predicate

PATHS_SHOWN: Final = 6
"""attempts that the map draws"""
POINTS: Final = 400
"""positions of one attempt that the map draws, at most: more than a printed line can show"""
CREDIBLE: Final = 0.9
"""how much of the posterior the interval of confidence holds"""

_EVIDENCE: Final = """
SELECT DISTINCT l.feedback_id, l.episode_id, l.attempt, l.build, l.source, l.file, e.world, e.world_seed,
    l.start_tick, l.end_tick, l.failure_type, l.evidence_tick, l.evidence_text
FROM knowledge_lineage AS l LEFT JOIN episodes AS e USING (episode_id)
WHERE l.entry_id = $1
ORDER BY l.build, l.episode_id, l.attempt, l.feedback_id
"""
_PATHS: Final = """
SELECT t.episode_id, t.attempt, t.tick, t.x, t.y, t.z
FROM ticks AS t
WHERE list_contains($1, t.episode_id) AND t.x IS NOT NULL AND t.z IS NOT NULL
ORDER BY t.episode_id, t.attempt, t.tick
"""
_VERSIONS: Final = """
SELECT build, version, status, confidence, support_episodes, uses, wins
FROM knowledge_versions WHERE entry_id = $1 ORDER BY build, version
"""
# One use per attempt, whatever the entry was called before a merge.
_USES: Final = """
SELECT DISTINCT u.build, u.episode_id, f.attempt, f.z AS subgoal, u.won, f.failure_type, e.task_id AS task
FROM knowledge_usage AS u
LEFT JOIN feedback AS f USING (feedback_id)
LEFT JOIN episodes AS e ON e.episode_id = u.episode_id
WHERE list_contains($1, u.entry_id)
ORDER BY u.build, u.episode_id, f.attempt
"""
_DECISIONS: Final = """
SELECT d.build, d.verdict,
    CASE WHEN d.candidate_id <> d.entry_id THEN d.candidate_id END AS candidate_id,
    c.engine,
    nullif(array_to_string([r.rule || ': ' || r.detail FOR r IN d.reasons], '; '), '') AS reasons,
    d.merged_into, d.conflict_with, d.decision_id
FROM decisions AS d LEFT JOIN candidates AS c USING (candidate_id)
WHERE list_contains($1, d.entry_id) OR list_contains($1, d.merged_into)
ORDER BY d.build, d.candidate_id = d.entry_id, d.verdict, d.decision_id
"""
_CONFLICTS: Final = """
WITH said AS (
    SELECT d.build, other.entry_id, 'this: ' || d.verdict AS decided
    FROM decisions AS d, unnest(d.conflict_with) AS other (entry_id)
    WHERE list_contains($1, d.entry_id) OR list_contains($1, d.merged_into)
    UNION
    SELECT d.build, d.entry_id, 'the other: ' || d.verdict
    FROM decisions AS d
    WHERE list_has_any(d.conflict_with, $1)
),
proposed AS (
    SELECT DISTINCT entry_id, type, kind, target, failure_type FROM candidates
)
SELECT s.build, s.entry_id, p.type, p.kind, p.target, p.failure_type, s.decided,
    coalesce(k.status, 'never stored') AS status, k.confidence
FROM said AS s
LEFT JOIN proposed AS p USING (entry_id)
LEFT JOIN knowledge AS k USING (entry_id)
ORDER BY s.build, s.entry_id, s.decided
"""
_NEIGHBOURS: Final = """
SELECT n.entry_id, n.type, n.failure_type, n.status, n.confidence, n.support_episodes, n.uses, n.wins
FROM knowledge AS k JOIN knowledge AS n
    ON n.kind IS NOT DISTINCT FROM k.kind AND n.target IS NOT DISTINCT FROM k.target
    AND n.entry_id <> k.entry_id AND n.status <> 'merged'
WHERE k.entry_id = $1
ORDER BY n.type, n.failure_type, n.confidence DESC, n.entry_id
"""
_BACKTESTS: Final = """
SELECT b.build, b.candidate_id, b.verdict, b.attempts, b.fired, b.hits, b.successes, b.unknown, b."precision",
    b.recall, b.detail
FROM backtests AS b JOIN candidates AS c USING (candidate_id)
WHERE list_contains($1, c.entry_id)
ORDER BY b.build, b.candidate_id
"""
_TRYOUTS: Final = """
SELECT build, sum(pairs)::BIGINT AS pairs, sum(both_arms)::BIGINT AS both,
    sum(only_with)::BIGINT AS only_with, sum(only_without)::BIGINT AS only_without,
    sum(neither_arm)::BIGINT AS neither, sum(undecided)::BIGINT AS undecided, sum(ticks)::BIGINT AS ticks
FROM tryout_outcomes WHERE list_contains($1, entry_id) GROUP BY build ORDER BY build
"""
_KEYS: Final = ("episode_id", "attempt")
_SIGNS: Final = {"eq": "=", "ne": "≠", "lt": "<", "le": "≤", "gt": ">", "ge": "≥", "in": "in"}


@dataclass(frozen=True)
class Explanation:
    """One entry, with frames in the order in which a reader wants them.

    `kin` are its own id and the ids of what was merged into it: evidence, uses, tests and decisions are those
    of all of them. `paths`: (map, episode_id, attempt, build, tick, x, y, z), blocks, of up to `PATHS_SHOWN`
    attempts of the evidence that have positions, `map` numbering them from 1; empty where no position was
    recorded. `marks`: where each of them starts, ends, and shows what it is cited for (map, mark, x, z).
    `uses` has one row per attempt, `by_build` (build, won, lost, undecided) counts episodes.
    """

    entry: Entry
    text: str
    kin: tuple[str, ...]
    credible: Interval
    evidence: pl.DataFrame
    paths: pl.DataFrame
    marks: pl.DataFrame
    versions: pl.DataFrame
    uses: pl.DataFrame
    by_build: pl.DataFrame
    decisions: pl.DataFrame
    conflicts: pl.DataFrame
    neighbours: pl.DataFrame
    backtests: pl.DataFrame
    tryouts: pl.DataFrame

    @property
    def trigger(self) -> tuple[str, ...]:
        """The predicates of the trigger in signs."""
        return tuple(told(predicate) for predicate in self.entry.trigger)


def explanation(home: Path, entry: Entry) -> Explanation:
    """Reads it. `NotPublishedError` where no warehouse is published."""
    one, kin = [entry.entry_id], query(home, statement("kin"), [entry.entry_id])["entry_id"].to_list()
    evidence = query(home, _EVIDENCE, one)
    uses = query(home, _USES, [kin])
    walked = _walked(home, evidence)
    return Explanation(
        entry=entry,
        text=render_entry(entry),
        kin=tuple(kin),
        credible=interval(entry, CREDIBLE),
        evidence=evidence.join(
            walked.select(*_KEYS, "map").unique(), on=_KEYS, how="left", maintain_order="left"
        ),
        paths=_thinned(walked),
        marks=_marks(walked),
        versions=query(home, _VERSIONS, one),
        uses=uses,
        by_build=_by_build(uses),
        decisions=query(home, _DECISIONS, [kin]),
        conflicts=query(home, _CONFLICTS, [kin]).filter(~pl.col("entry_id").is_in(kin)),
        neighbours=query(home, _NEIGHBOURS, one),
        backtests=query(home, _BACKTESTS, [kin]),
        tryouts=query(home, _TRYOUTS, [kin]),
    )


def told(predicate: Predicate) -> str:
    """A predicate in signs.

    >>> told(Predicate(field="inventory.crafting_table", op="lt", value=1))
    'inventory.crafting_table < 1'
    """
    values = predicate.value if isinstance(predicate.value, tuple) else (predicate.value,)
    said = ", ".join(str(value).lower() if isinstance(value, bool) else str(value) for value in values)
    return f"{predicate.field} {_SIGNS[predicate.op]} {said}"


def _walked(home: Path, evidence: pl.DataFrame) -> pl.DataFrame:
    """Every position of the attempts that the map draws: first one attempt of each episode, then further
    ones. An attempt may be cited for several ticks; the first of them is marked."""
    whole = evidence.drop_nulls(_KEYS)
    cited = whole.group_by(_KEYS).agg(pl.col("build").first(), pl.col("evidence_tick").min())
    turns = cited.sort("build", *_KEYS).with_columns(turn=pl.int_range(pl.len()).over("episode_id"))
    # Sources without positions have none at all, so a few more attempts than are drawn will do.
    ordered = turns.sort("turn", "build", *_KEYS).drop("turn").head(4 * PATHS_SHOWN)
    rows = query(home, _PATHS, [ordered["episode_id"].unique().sort().to_list()])
    found = ordered.join(rows.select(_KEYS).unique(), on=_KEYS, how="semi", maintain_order="left")
    shown = found.head(PATHS_SHOWN).with_row_index("map", offset=1)
    return shown.with_columns(pl.col("map").cast(pl.Int64)).join(rows, on=_KEYS).sort("map", "tick")


def _thinned(walked: pl.DataFrame) -> pl.DataFrame:
    number, last = pl.int_range(pl.len()).over("map"), pl.len().over("map") - 1
    step = pl.len().over("map") // POINTS + 1
    return walked.filter((number % step == 0) | (number == last)).drop("evidence_tick")


def _marks(walked: pl.DataFrame) -> pl.DataFrame:
    """Where each attempt starts and ends, and the last position up to the tick that it is cited for."""
    until = walked.filter(pl.col("tick") <= pl.col("evidence_tick"))
    of = walked.group_by("map", maintain_order=True)
    shows = until.group_by("map", maintain_order=True).last()
    named = (("start", of.first()), ("end", of.last()), ("evidence", shows))
    return pl.concat(
        rows.select("map", mark=pl.lit(mark), x=pl.col("x"), z=pl.col("z")) for mark, rows in named
    ).sort("map", "mark")


def _by_build(uses: pl.DataFrame) -> pl.DataFrame:
    """Episodes by what became of them: won if more of their decided uses were won than lost."""
    episodes = uses.group_by("build", "episode_id").agg(
        wins=pl.col("won").sum(), decided=pl.col("won").count()
    )
    won, decided = 2 * pl.col("wins") > pl.col("decided"), pl.col("decided") > 0
    return (
        episodes.group_by("build")
        .agg(
            won=(decided & won).sum().cast(pl.Int64),
            lost=(decided & ~won).sum().cast(pl.Int64),
            undecided=(~decided).sum().cast(pl.Int64),
        )
        .sort("build")
    )
