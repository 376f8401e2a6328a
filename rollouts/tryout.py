"""Try-outs: new knowledge played out, with it and without, from the situations that it was drawn from.

A pair starts from one state, which a world and an executor are copied in:

    with      the entry's steps one after the other, then its goal once, unless that is reached already
    without   the goal alone, as often as the other arm makes attempts

Both have the same time, and the goal's own checks decide, never anybody's word. So what is measured is what
an entry says of the world (do this here, and that will work) and not whether a planner profits from being
told; no model is asked. Of pairs that differ a sequential test makes a verdict (warehouse/tryouts.py).

All try-outs of a build together step at most a share of its game ticks; the ways to the situations count.
They are played in waves: who is first and fits into what is left is played, and the next wave knows what came
of it. What is chosen depends on the log and the traces alone; what was played before is not played again.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from rollouts.attempt import LANDING
from rollouts.backends import Addressed, Done, RolloutBackend
from rollouts.journey import ARMS, Journey, Playing
from rollouts.progress import followed
from rollouts.situations import Past, Proposal, Trial, pasts, proposals, trials_of
from warehouse.build_evidence import Evidence
from warehouse.domains import Domain
from warehouse.entries import TryOut
from warehouse.knowledge import Candidate
from warehouse.tryouts import Finding, Rules, Tally, finding, rules, tallies

Backend = Callable[[], AbstractContextManager[RolloutBackend]]


class Tried(NamedTuple):
    """What is known of one entry after the try-outs."""

    proposal: Proposal
    tally: Tally
    finding: Finding
    situations: int
    """in which it could be tried out"""


@dataclass(frozen=True)
class TriedOut:
    """The try-outs of a build."""

    entries: tuple[Tried, ...]
    """in the order in which they were considered"""
    rows: tuple[TryOut, ...]
    """what was played now"""
    budget: int
    """game ticks that all of them may take"""
    spent: int
    """game ticks that they took, those of earlier runs and of the ways to the situations included"""
    remembered: int
    """arms of which the log knew the outcome"""
    lost: int
    """pairs that the infrastructure ended, or that did not come to their situation again: none counts"""


@dataclass
class _Considered:
    """An entry on the way to its finding."""

    proposal: Proposal
    trials: list[Trial]
    looked: int = 0
    """how often it was played and looked at"""
    asked: set[tuple[str, str, int]] = field(default_factory=set)

    @property
    def rank(self) -> tuple[bool, int, str]:
        """Who is tried out first: remedies, whose repair nobody has seen done, before skills, whose steps
        were; then who can be tried out in more of the worlds that it was drawn from, which are sure to show
        its situation, and are as many as the independent episodes behind it."""
        at_home = sum(trial.wanted is None for trial in self.trials)
        return self.proposal.candidate.type == "skill", -at_home, self.proposal.entry_id

    def turn(self, tally: Tally) -> tuple[int, int]:
        """Whose turn it is: who may be refused for what came of it so far before who was not played yet, and
        those before who does well, because a word for an entry changes nothing; then who was looked at less
        often."""
        against = tally.only_without > tally.only_with or not (tally.both + tally.only_with)
        return (1 if not self.looked else 0 if tally.pairs and against else 2), self.looked

    def next(self, tally: Tally, rules: Rules) -> list[Trial]:
        """The pairs to be played before it is looked at again; none where nothing can be decided any more."""
        test, left = rules.test, [each for each in self.trials if each.key not in self.asked]
        room = min(test.most - tally.pairs, len(left))
        decided = finding(tally, test) != "undecided"
        could_differ = abs(tally.only_with - tally.only_without) + room >= test.net
        could_be_futile = not (tally.both + tally.only_with) and tally.pairs + room >= test.futile
        return [] if decided or not (could_differ or could_be_futile) else left[: min(test.batch, room)]


def try_out(
    candidates: Iterable[Candidate],
    evidence: Evidence,
    domain: Domain,
    share: float,
    executor: str,
    backend: Backend,
) -> TriedOut:
    """Tries out what these candidates propose, in at most `share` of the ticks of `evidence.build`.

    `backend` is asked for only where something has to be played. The same evidence gives the same rows,
    whatever the number of its processes.
    """
    ours = rules()
    facts = evidence.facts
    proposed = proposals(candidates, facts)
    cited = {fact.episode_id for each in proposed for fact in each.cited}
    known = pasts(evidence, cited, executor)
    considered = sorted(
        (_Considered(each, trials_of(each, known, evidence.build, ours)) for each in proposed),
        key=lambda each: each.rank,
    )
    of_build = evidence.episodes.filter(pl.col("build") == evidence.build, pl.col("world_seed").is_not_null())
    budget = int(share * int(of_build["n_ticks"].sum()))
    memory = _Memory(evidence.tryouts, considered)
    remembered, spent, lost = 0, 0, 0
    with ExitStack() as open_:
        opened: list[RolloutBackend] = []

        def hands() -> RolloutBackend:
            if not opened:
                opened.append(open_.enter_context(backend()))
            return opened[0]

        while wave := _wave(considered, memory, budget - spent, ours):
            missing = [trial for trial in wave if trial.key not in memory.arms]
            remembered += 2 * (len(wave) - len(missing))
            if missing:
                journeys = _journeys(missing, known, domain, ours)
                memory.learn(_played(journeys, hands()))
            memory.tell(wave)
            lost += sum(trial.key not in memory.arms for trial in wave)
            spent += memory.ticks(wave, ours)
    tallied = memory.tallies()
    entries = tuple(
        Tried(each.proposal, tally, finding(tally, ours.test), len(each.trials))
        for each in considered
        for tally in [tallied.get(each.proposal.entry_id, Tally())]
    )
    return TriedOut(entries, tuple(memory.rows), budget, spent, remembered, lost)


class _Memory:
    """What is known of arms, from the log and from what was played now.

    What the log knows of a situation of this build is told when it is asked for and no sooner: a second run
    then goes the way of the first, spends as much, and has nothing left to play.
    """

    def __init__(self, logged: Iterable[TryOut], considered: Iterable["_Considered"]) -> None:
        self.arms: dict[tuple[str, str, int], dict[str, TryOut]] = {}
        self.rows: list[TryOut] = []
        """what was played now"""
        halves: dict[tuple[str, str, int], dict[str, TryOut]] = {}
        for row in logged:
            halves.setdefault((row.entry_id, row.situation, row.world_seed), {})[row.arm] = row
        self.arms = {key: pair for key, pair in halves.items() if len(pair) == len(ARMS)}
        ours = {trial.key for each in considered for trial in each.trials}
        self._told = self.arms.keys() - ours

    def learn(self, rows: Iterable[TryOut]) -> None:
        """Pairs that were just played."""
        for row in rows:
            self.rows.append(row)
            self.arms.setdefault((row.entry_id, row.situation, row.world_seed), {})[row.arm] = row

    def tell(self, wave: Iterable[Trial]) -> None:
        """These were asked for."""
        self._told |= {trial.key for trial in wave}

    def tallies(self) -> dict[str, Tally]:
        """By entry: of what was asked for, and of what earlier builds have tried out."""
        told = sorted(self._told & self.arms.keys())
        return tallies(row for key in told for row in self.arms[key].values())

    def ticks(self, wave: Sequence[Trial], rules: Rules) -> int:
        """What a wave took; what was lost counts as what it might have taken."""
        ways: dict[tuple[str, int], int] = {}
        arms = 0
        for trial in wave:
            pair = self.arms.get(trial.key)
            lead = pair["with"].lead if pair else trial.lead
            way = (trial.episode_id, trial.world_seed)
            ways[way] = max(ways.get(way, 0), lead)
            arms += sum(row.ticks for row in pair.values()) if pair else len(ARMS) * rules.cost.arm_ticks
        return sum(ways.values()) + arms


def _wave(considered: Sequence[_Considered], memory: _Memory, left: int, rules: Rules) -> list[Trial]:
    """What is played next: for each entry the pairs up to its next look, as far as they are sure to fit into
    the ticks that are left; in the order of their turns, then in the order given."""
    tallied = {each.proposal.entry_id: Tally() for each in considered} | memory.tallies()
    ways: dict[tuple[str, int], int] = {}
    arms = len(ARMS) * (rules.cost.arm_ticks + LANDING)
    wave: list[Trial] = []
    for each in sorted(considered, key=lambda each: each.turn(tallied[each.proposal.entry_id])):
        taken = len(wave)
        for trial in each.next(tallied[each.proposal.entry_id], rules):
            way = (trial.episode_id, trial.world_seed)
            lead = trial.lead + LANDING if trial.place else 0
            longer = ways | {way: max(ways.get(way, 0), lead)}
            if sum(longer.values()) + arms * (len(wave) + 1) > left:
                break
            ways = longer
            wave.append(trial)
            each.asked.add(trial.key)
        each.looked += len(wave) > taken
    return wave


def _journeys(
    trials: Sequence[Trial], known: Mapping[str, Past], domain: Domain, rules: Rules
) -> list[Journey]:
    """The ways to these situations: one for each episode and world, whatever is tried out on it."""
    by_way: dict[tuple[str, int], list[Trial]] = {}
    for trial in trials:
        by_way.setdefault((trial.episode_id, trial.world_seed), []).append(trial)
    return [
        Journey(known[episode_id], world_seed, by_way[episode_id, world_seed], domain, rules.cost.arm_ticks)
        for episode_id, world_seed in sorted(by_way)
    ]


def _played(journeys: Sequence[Journey], backend: RolloutBackend) -> Iterator[TryOut]:
    """The rows of all journeys, as they end; as many are under way as the backend has room for."""
    for journey in followed(_ended(journeys, backend), "try-outs", len(journeys)):
        yield from journey.rows


def _ended(journeys: Sequence[Journey], backend: RolloutBackend) -> Iterator[Journey]:
    waiting = deque(journeys)
    under_way: dict[str, tuple[Journey, Playing, list[Addressed]]] = {}
    while waiting or under_way:
        while waiting and len(under_way) < backend.side_by_side:
            journey = waiting.popleft()
            playing = journey.playing()
            under_way[journey.name] = (journey, playing, next(playing))
        orders = [order for name in sorted(under_way) for order in under_way[name][2]]
        reports = dict(backend.play(orders))
        for name in sorted(under_way):
            journey, playing, own = under_way[name]
            try:
                wants = playing.send({each.episode_id: reports[each.episode_id] for each in own})
                under_way[name] = (journey, playing, wants)
            except StopIteration:
                del under_way[name]
                backend.finish(Done(name))
                yield journey
