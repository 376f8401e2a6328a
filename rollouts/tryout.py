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
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import polars as pl

from rollouts.attempt import LANDING, AttemptRun, Opening
from rollouts.backends import Addressed, Branch, Go, Open, Report, RolloutBackend
from rollouts.budget import CallBudget
from rollouts.monitor import monitor
from rollouts.progress import followed
from rollouts.protocols import Subgoal
from rollouts.recorder import AttemptRecord, Cast, EpisodeRecord, trace_of
from rollouts.rehearsal import Course, with_steps, without_steps
from rollouts.sightings import Row
from rollouts.situations import Past, Proposal, Trial, in_world, pasts, proposals, trials_of
from warehouse.build_evidence import Evidence
from warehouse.domains import Domain
from warehouse.entries import TryOut
from warehouse.facts import FeedbackFact, facts_from
from warehouse.knowledge import Candidate
from warehouse.records import TICKS_PER_SECOND
from warehouse.state import flatten_state, matches
from warehouse.tryouts import Finding, Rules, Tally, finding, rules, tallies

_ARMS: Final = {"with": with_steps, "without": without_steps}
_COMPARED: Final = ("start_tick", "end_tick", "success", "end_reason", "state_before", "state_after")
"""what says that the same decisions led to the same"""
Backend = Callable[[], AbstractContextManager[RolloutBackend]]
_Playing = Generator[list[Addressed], Mapping[str, Report], None]


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
        self.arms = {key: pair for key, pair in halves.items() if len(pair) == len(_ARMS)}
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
            arms += sum(row.ticks for row in pair.values()) if pair else len(_ARMS) * rules.cost.arm_ticks
        return sum(ways.values()) + arms


def _wave(considered: Sequence[_Considered], memory: _Memory, left: int, rules: Rules) -> list[Trial]:
    """What is played next: for each entry the pairs up to its next look, as far as they are sure to fit into
    the ticks that are left. Who was looked at less often comes first, then in the order given."""
    tallied = memory.tallies()
    ways: dict[tuple[str, int], int] = {}
    arms = len(_ARMS) * (rules.cost.arm_ticks + LANDING)
    wave: list[Trial] = []
    for each in sorted(considered, key=lambda each: each.looked):
        taken = len(wave)
        for trial in each.next(tallied.get(each.proposal.entry_id, Tally()), rules):
            way = (trial.episode_id, trial.world_seed)
            longer = ways | {way: max(ways.get(way, 0), trial.lead + LANDING)}
            if sum(longer.values()) + arms * (len(wave) + 1) > left:
                break
            ways = longer
            wave.append(trial)
            each.asked.add(trial.key)
        each.looked += len(wave) > taken
    return wave


def _journeys(
    trials: Sequence[Trial], known: Mapping[str, Past], domain: Domain, rules: Rules
) -> list["_Journey"]:
    """The ways to these situations: one for each episode and world, whatever is tried out on it."""
    by_way: dict[tuple[str, int], list[Trial]] = {}
    for trial in trials:
        by_way.setdefault((trial.episode_id, trial.world_seed), []).append(trial)
    return [
        _Journey(known[episode_id], world_seed, by_way[episode_id, world_seed], domain, rules)
        for episode_id, world_seed in sorted(by_way)
    ]


def _played(journeys: Sequence["_Journey"], backend: RolloutBackend) -> Iterator[TryOut]:
    """The rows of all journeys, as they end; as many are under way as the backend has room for."""
    for journey in followed(_ended(journeys, backend), "try-outs", len(journeys)):
        yield from journey.rows


def _ended(journeys: Sequence["_Journey"], backend: RolloutBackend) -> Iterator["_Journey"]:
    waiting = deque(journeys)
    under_way: dict[str, tuple[_Journey, _Playing, list[Addressed]]] = {}
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
                backend.finish(name)
                yield journey


class _Journey:
    """One episode's decisions carried out again in one world, with a stop at every situation on the way."""

    def __init__(
        self, past: Past, world_seed: int, trials: Sequence[Trial], domain: Domain, rules: Rules
    ) -> None:
        self.rows: list[TryOut] = []
        self._past = past
        self._spec = in_world(past, world_seed)
        self._at_home = world_seed == past.spec.world_seed
        self._trials = sorted(trials, key=lambda trial: (trial.place, trial.entry_id))
        self._domain = domain
        self._limit = rules.cost.arm_ticks
        self._runs: list[AttemptRun] = []
        self._observes: tuple[str, ...] = ()
        self.name = f"{trials[0].episode_id}-{world_seed}"

    def playing(self) -> _Playing:
        """Yields orders, is sent the reports on them. What has no row at the end was lost."""
        from rollouts.worlds.techtree.stages import UNWINNABLE

        opening = yield from self._ordered(Open(self._spec, UNWINNABLE))
        if not isinstance(opening, Opening):
            return
        state, tick, self._observes = opening.state, 0, opening.observes
        while self._trials:
            place = len(self._runs)
            here = [trial for trial in self._trials if trial.place == place]
            self._trials = [trial for trial in self._trials if trial.place > place]
            if here and not self._at_home:
                come = [trial for trial in here if self._has_come(trial, state)]
                self._never_came([trial for trial in here if trial not in come], tick)
                here = come
            if here:
                yield from self._tried(here, state, tick)
            if not self._trials:
                return
            run = yield from self._ordered(Go(place, self._in_time(self._past.subgoals[place], tick)))
            if not isinstance(run, AttemptRun) or run.end_reason == "infrastructure":
                return
            self._runs.append(run)
            state, tick = run.state_after, run.end_tick
            if self._at_home and not self._as_it_was():
                return
            if not self._at_home:
                # Its time is over, or its life is.
                beyond = [trial for trial in self._trials if tick > trial.lead or run.end_reason == "death"]
                self._never_came(beyond, tick)
                self._trials = [trial for trial in self._trials if trial not in beyond]

    def _in_time(self, subgoal: Subgoal, tick: int) -> Subgoal:
        """The subgoal, in another world with no more time than is left for the way."""
        if self._at_home:
            return subgoal
        left = max(trial.lead for trial in self._trials) - tick
        return replace(subgoal, timeout_s=min(subgoal.timeout_s, max(0, left) / TICKS_PER_SECOND))

    def _ordered(self, order: Open | Go) -> Generator[list[Addressed], Mapping[str, Report], Report]:
        reports = yield [Addressed(self.name, self.name, order)]
        return reports[self.name]

    def _tried(self, trials: Sequence[Trial], state: Row, tick: int) -> _Playing:
        """Both arms of each, side by side."""
        courses = {
            f"{self.name}/{trial.entry_id}/{arm}": Course(
                subgoals(trial.steps, trial.goal), trial.goal, state, tick, self._limit, self._domain
            )
            for trial in trials
            for arm, subgoals in _ARMS.items()
        }
        came = yield [Addressed(self.name, name, Branch(self.name)) for name in courses]
        for name, report in came.items():
            courses[name].lost = not isinstance(report, Opening)
        number = len(self._runs)
        while orders := [
            Addressed(self.name, name, Go(number, subgoal))
            for name, course in sorted(courses.items())
            if (subgoal := course.next()) is not None
        ]:
            number += 1
            for name, report in (yield orders).items():
                if isinstance(report, AttemptRun):
                    courses[name].heard(report)
                else:
                    courses[name].lost = True
        for trial in trials:
            pair = {arm: courses[f"{self.name}/{trial.entry_id}/{arm}"] for arm in _ARMS}
            if not any(course.lost for course in pair.values()):
                self.rows += [
                    self._row(trial, arm, course.success, tick, course.ticks) for arm, course in pair.items()
                ]

    def _never_came(self, trials: Sequence[Trial], tick: int) -> None:
        self.rows += [self._row(trial, arm, None, tick, 0) for trial in trials for arm in _ARMS]

    def _row(self, trial: Trial, arm: str, success: bool | None, lead: int, ticks: int) -> TryOut:
        return TryOut.model_validate(
            {
                "entry_id": trial.entry_id,
                "situation": trial.situation,
                "episode_id": trial.episode_id,
                "world_seed": trial.world_seed,
                "arm": arm,
                "success": success,
                "lead": lead,
                "ticks": ticks,
            }
        )

    def _as_it_was(self) -> bool:
        """Whether the last attempt is, by what is stored of it, the one that was recorded."""
        again = trace_of([self._record()]).attempts.select(_COMPARED).tail(1)
        return again.equals(self._past.attempts.select(_COMPARED).slice(len(self._runs) - 1, 1))

    def _has_come(self, trial: Trial, state: Row) -> bool:
        """Whether a situation of another world is one of the entry: its trigger holds, and what has failed
        in its own world has failed here."""
        if not trial.failed:
            flat = flatten_state(state, kind=trial.goal.kind, target=trial.goal.target)
            return matches(trial.wanted or (), flat, self._domain) is True
        last = self._judged()
        return last.y is False and matches(trial.wanted or (), last.situation, self._domain) is True

    def _judged(self) -> FeedbackFact:
        """Monitor's word on the last attempt."""
        trace = trace_of([self._record()])
        facts = facts_from(monitor(trace, self._domain), trace.attempts, trace.events, trace.episodes)
        return max(facts.values(), key=lambda fact: fact.attempt)

    def _record(self) -> EpisodeRecord:
        pairs = zip(self._runs, self._past.subgoals, strict=False)
        return EpisodeRecord(
            spec=self._spec,
            cast=Cast("none", "none", "none"),
            observes=self._observes,
            attempts=tuple(AttemptRecord(run, subgoal, "try-out") for run, subgoal in pairs),
            end_reason="recording_end",
            success_tick=None,
            budget=CallBudget(),
        )
