"""Knowledge without Curator: every candidate as it came, for the ablation that shows what curation is worth.

Whatever a model's answer could be read as is here once, by its entry's id: unknown things, conditions that
nothing can satisfy, platitudes, contradictions. Nothing is checked, merged or retired. Support and outcomes
of use are counted as for curated entries, so that the arms differ in what Curator decides and in no more.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from warehouse import log
from warehouse.confidence import Outcomes, confidence, outcomes_by_entry
from warehouse.entries import Entry, Support, Usage
from warehouse.exchange import episodes_of_imports
from warehouse.knowledge import Candidate
from warehouse.trace_store import feedback_store, trace_store


def as_entries(
    candidates: Iterable[Candidate], episode_of: Mapping[str, str], usage: Iterable[Usage]
) -> tuple[Entry, ...]:
    """An active entry per distinct entry id, by id, whatever the order of the candidates.

    `episode_of` leads from feedback to its episode. A candidate all of whose feedback is gone belongs to
    episodes that its build no longer has, and is no proposal any more; one that cites nothing stays.
    """
    groups: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda each: each.candidate_id):
        if not candidate.support or any(one in episode_of for one in candidate.support):
            groups.setdefault(candidate.entry_id, []).append(candidate)
    outcomes = outcomes_by_entry(usage, {})
    return tuple(
        _entry(entry_id, groups[entry_id], episode_of, outcomes.get(entry_id, Outcomes(0, 0)))
        for entry_id in sorted(groups)
    )


def uncurated_store(home: Path, build: str) -> tuple[Entry, ...]:
    """The entries that the candidates of `build` and of the builds before it make, from the shards."""
    builds = sorted({shard.build for shard in log.shards(home) if shard.build <= build})
    rows = feedback_store(home).scan("feedback", builds).select("feedback_id", "episode_id").collect()
    episodes = trace_store(home).scan("episodes", builds).select("episode_id").collect()
    return as_entries(
        log.candidates_of(log.read(home, "candidates", builds)),
        {**episodes_of_imports(log.read(home, "imports", builds)), **dict(rows.iter_rows())},
        log.usage_of(log.read(home, "usage", builds).join(episodes, on="episode_id", how="semi")),
    )


def _entry(entry_id: str, group: list[Candidate], episode_of: Mapping[str, str], outcomes: Outcomes) -> Entry:
    first, builds = group[0], sorted(candidate.build for candidate in group)
    cited = sorted({one for candidate in group for one in candidate.support if one in episode_of})
    entry = Entry(
        entry_id=entry_id,
        domain=first.domain,
        type=first.type,
        trigger=first.trigger,
        content=first.content,
        verification=first.verification,
        support=tuple(Support(feedback_id=one, episode_id=episode_of[one]) for one in cited),
        uses=outcomes.uses,
        wins=outcomes.wins,
        confidence=0.0,
        first_build=builds[0],
        last_build=builds[-1],
    )
    mean = confidence(entry.support_episodes, outcomes.wins, outcomes.uses - outcomes.wins)
    return entry.model_copy(update={"confidence": mean})
