"""Where an entry can be tried out: the situations of the episodes that it was drawn from, in their own worlds
and, with the same decisions, in other training worlds.

A situation is the decisions that led to it: the subgoals of an episode up to some attempt. Carried out again
in the same world by the same executor they lead to the same state, which is checked; a different world is a
situation of the entry only if the same subgoal fails there too and the entry's trigger holds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final, NamedTuple

import polars as pl

from rollouts.protocols import EpisodeSpec, Subgoal
from rollouts.seeds import is_for_evaluation, training_seeds
from rollouts.worlds.registry import COPIED
from warehouse.build_evidence import Evidence
from warehouse.facts import FeedbackFact
from warehouse.grammar import steps_of
from warehouse.ids import derive_id
from warehouse.knowledge import Candidate, Check, Predicate, SkillContent, Step
from warehouse.tryouts import Rules

ENDLESS: Final = 10**9
"""the horizon of a try-out: what led to a situation had time left, and the arms have a limit of their own"""
_NO_SITUATION: Final = ("horizon", "infrastructure", "superseded")
"""ends of an attempt that say nothing of its subgoal"""
_OTHER_WORLDS: Final = 2
"""training worlds beside its own that an episode's decisions are carried out in"""


@dataclass(frozen=True)
class Past:
    """An episode that was played: its world, and its attempts as they are stored, in order."""

    spec: EpisodeSpec
    attempts: pl.DataFrame
    subgoals: tuple[Subgoal, ...]


class Trial(NamedTuple):
    """One situation in which an entry can be tried out."""

    entry_id: str
    steps: tuple[Step, ...]
    goal: Subgoal
    situation: str
    """its id, the same in every world"""
    episode_id: str
    world_seed: int
    place: int
    """how many of the episode's attempts lead there"""
    lead: int
    """game ticks that they took there, or in another world the most that they may take"""
    wanted: tuple[Predicate, ...] | None
    """what has to be the case in another world; None in the episode's own"""
    failed: bool
    """the situation is that the attempt before it failed"""

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from all others."""
        return self.entry_id, self.situation, self.world_seed


class Proposal(NamedTuple):
    """An entry as one or several candidates propose it."""

    entry_id: str
    candidate: Candidate
    cited: tuple[FeedbackFact, ...]


def proposals(candidates: Iterable[Candidate], facts: Mapping[str, FeedbackFact]) -> list[Proposal]:
    """The entries that these candidates propose, by id."""
    by_entry = sorted(candidates, key=lambda each: (each.entry_id, each.candidate_id))
    found = []
    for entry_id, group in groupby(by_entry, key=lambda each: each.entry_id):
        own = list(group)
        cited = sorted({feedback for each in own for feedback in each.support})
        found.append(Proposal(entry_id, own[0], tuple(facts[each] for each in cited if each in facts)))
    return found


def pasts(evidence: Evidence, episodes: Iterable[str], executor: str) -> dict[str, Past]:
    """The episodes among these that can be carried out again, by id: played by this executor in a training
    world of a kind that can be copied. Recordings, and episodes that came with knowledge from elsewhere, are
    not."""
    played = evidence.episodes.filter(
        pl.col("episode_id").is_in(sorted(set(episodes))),
        pl.col("world").is_in(sorted(COPIED)),
        pl.col("executor") == executor,
        pl.col("world_seed").is_not_null(),
    )
    found = {}
    for row in played.sort("episode_id").iter_rows(named=True):
        if not is_for_evaluation(row["world_seed"]):
            own = evidence.attempts.filter(pl.col("episode_id") == row["episode_id"]).sort("attempt")
            subgoals = tuple(_subgoal(each) for each in own.iter_rows(named=True))
            found[row["episode_id"]] = Past(_spec(row), own, subgoals)
    return found


def trials_of(proposal: Proposal, known: Mapping[str, Past], build: str, rules: Rules) -> list[Trial]:
    """Where an entry can be tried out, in the order in which that is done: the worlds that it was drawn from,
    each once, the shortest way first; then other training worlds, for the same episodes in turn.

    An entry whose steps are one attempt at its own goal has none: its arms would do the same.
    """
    own = []
    for episode_id in sorted({fact.episode_id for fact in proposal.cited}):
        if episode_id in known:
            cited = [fact for fact in proposal.cited if fact.episode_id == episode_id]
            own += _in_its_world(proposal, known[episode_id], cited, rules)[:1]
    own.sort(key=lambda trial: (trial.lead, trial.episode_id))
    elsewhere = [
        trial
        for number in range(_OTHER_WORLDS)
        for each in own
        for trial in _in_another_world(proposal, each, known[each.episode_id], build, number, rules)
    ]
    return [*own[: rules.test.most], *elsewhere[: rules.test.most]]


def _in_its_world(proposal: Proposal, past: Past, cited: Sequence[FeedbackFact], rules: Rules) -> list[Trial]:
    """The situations of one episode, the earliest first."""
    content, steps = proposal.candidate.content, steps_of(proposal.candidate.content)
    attempts = sorted(fact.attempt for fact in cited)
    places: list[tuple[int, int]] = []
    """(attempts that lead there, the one whose subgoal is the goal)"""
    if isinstance(content, SkillContent):
        if len(steps) > 1:
            reached = (content.kind, content.target)
            ends = sorted(fact.attempt for fact in cited if (fact.kind, fact.target) == reached)
            ways = [(_begin(attempts, end), end) for end in ends]
            # What took longer than an arm has would look futile.
            places = [(at, end) for at, end in ways if _took(past, at, end) <= rules.cost.arm_ticks]
    else:
        ended = past.attempts["end_reason"].cast(pl.String)
        failed = [fact.attempt for fact in cited if fact.y is False]
        places = [
            # A death is no state to go on from: there the situation is the one before it.
            (at if ended[at] == "death" else at + 1, at)
            for at in sorted(failed)
            if ended[at] not in _NO_SITUATION
        ]
    return [
        _trial(proposal, past, place, goal, rules)
        for place, goal in places
        if past.subgoals[goal].checks and _lead(past, place) <= rules.cost.lead_ticks
    ]


def _trial(proposal: Proposal, past: Past, place: int, goal: int, rules: Rules) -> Trial:
    episode_id = past.attempts["episode_id"][0]
    return Trial(
        entry_id=proposal.entry_id,
        steps=steps_of(proposal.candidate.content),
        goal=past.subgoals[goal],
        situation=derive_id("situation", [episode_id, place, goal, rules.cost.arm_ticks]),
        episode_id=episode_id,
        world_seed=past.spec.world_seed,
        place=place,
        lead=_lead(past, place),
        wanted=None,
        failed=place > goal,
    )


def _in_another_world(
    proposal: Proposal, trial: Trial, past: Past, build: str, number: int, rules: Rules
) -> list[Trial]:
    """The same decisions in another world; none for a death, which would have to come again for its sake."""
    content = proposal.candidate.content
    is_skill = isinstance(content, SkillContent)
    if not (is_skill or trial.failed):
        return []
    before = content.preconditions if isinstance(content, SkillContent) else ()
    # Worlds of this episode's own: two pairs in one world would be one piece of evidence.
    seeds = training_seeds(0, f"{build} try-outs", trial.episode_id, _OTHER_WORLDS)
    return [
        trial._replace(
            world_seed=seeds[number],
            # A world may take longer to come to the same.
            lead=min(2 * trial.lead, rules.cost.lead_ticks),
            wanted=(*proposal.candidate.trigger, *before),
        )
    ]


def _begin(attempts: Sequence[int], end: int) -> int:
    """Where the run of consecutive attempts begins that ends with `end`."""
    begin = end
    while begin - 1 in attempts:
        begin -= 1
    return begin


def _took(past: Past, begin: int, end: int) -> int:
    return int(past.attempts["end_tick"][end]) - _lead(past, begin)


def _lead(past: Past, place: int) -> int:
    return int(past.attempts["end_tick"][place - 1]) if place else 0


def in_world(past: Past, world_seed: int) -> EpisodeSpec:
    """The past's episode in a world."""
    return replace(past.spec, world_seed=world_seed)


def _spec(row: Mapping[str, Any]) -> EpisodeSpec:
    return EpisodeSpec(
        build=row["build"],
        group="tryouts",
        task_id=row["task_id"],
        goal=row["goal"],
        world=row["world"],
        world_seed=row["world_seed"],
        planner_seed=row["planner_seed"],
        horizon=ENDLESS,
        snapshot_id=row["snapshot_id"],
        config_hash=row["config_hash"],
    )


def _subgoal(row: Mapping[str, Any]) -> Subgoal:
    return Subgoal(
        subgoal_id=row["subgoal_id"],
        condition=row["condition"],
        kind=row["kind"],
        target=row["target"],
        count=row["needed"],
        executor_hint=row["executor_hint"],
        mode=row["mode"],
        timeout_s=row["timeout_s"],
        checks=tuple(Check(**check) for check in row["checks"]),
    )
