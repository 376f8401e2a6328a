"""Many episodes side by side, in rounds, whatever steps their worlds.

A round: the backend carries out every order there is; Monitor judges all attempts that ended, in one call;
the model answers all pending requests, in one call; the answers become the orders of the next round.
Everything is sorted by (episode, attempt) on the way, so that neither the number of processes nor the order
in which they report can be seen in what is recorded.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from pathlib import Path
from typing import Final, NamedTuple, Protocol, runtime_checkable

import polars as pl

from prompts.language_model import LanguageModel, ModelAnswer, ModelRequest, Role
from rollouts.agent import ComposedAgent, Parts
from rollouts.attempt import Opening
from rollouts.attempt_run import AttemptRun
from rollouts.backends import (
    Addressed,
    Done,
    Go,
    Lost,
    Open,
    Order,
    Report,
    Reported,
    RolloutBackend,
)
from rollouts.episode import Course, Demand, Episode, Judged
from rollouts.monitor import DEFAULTS, EARLIER, MonitorSettings, monitor
from rollouts.progress import followed
from rollouts.protocols import EpisodeSpec
from rollouts.recorder import Batch, Cast, Commit, EpisodeRecord, ShardPlan, trace_of
from warehouse.domains import Domain
from warehouse.facts import FeedbackFact, facts_from
from warehouse.tasks import Suite

FEW: Final = 64
"""Episodes that are not worth a second table: a round costs Monitor a quarter of a second however few there
are, so two short rounds cost more than the worlds that are stepped meanwhile."""
TRIES: Final = 2
"""An environment that fails gets one more chance, from the episode's beginning."""


@dataclass(frozen=True)
class Crew:
    """Everything but the worlds: how an episode begins, whom it asks, and by whom it is judged."""

    begin: Callable[[EpisodeSpec], Episode]
    model: Callable[[Role, int], LanguageModel]
    """(role, planner seed) -> the model that is asked; one for several of these is asked once for all"""
    domain: Domain
    monitor_settings: MonitorSettings = DEFAULTS


def crew_of(
    parts: Parts,
    suite: Suite,
    model: Callable[[Role, int], LanguageModel],
    settings: MonitorSettings = DEFAULTS,
) -> Crew:
    """The crew of the agents that are put together from `parts`, for the tasks of a suite."""

    def begin(spec: EpisodeSpec) -> Episode:
        planner = model("planner", spec.planner_seed).name
        cast = Cast(agent=parts.row.name, planner=planner, executor=parts.row.executor)
        return Episode(spec, suite.task(spec.task_id), ComposedAgent(parts), cast, parts.domain)

    return Crew(begin, model, parts.domain, settings)


class Ended(NamedTuple):
    """An episode that has ended, with the shard that it belongs to."""

    shard: ShardPlan
    record: EpisodeRecord


@dataclass(frozen=True)
class Outcome:
    """What became of a batch: how each shard that was played was stored, and how many were there before."""

    commits: dict[str, Commit]
    resumed: int


def roll_out(
    batches: Sequence[Batch], backend: RolloutBackend, crew: Crew, what: str = "episodes"
) -> Outcome:
    """Plays what is missing of these batches, stores each shard as soon as its last episode has ended, and
    makes the batches sources of the trace store. Running it again continues where it was stopped."""
    owner: dict[str, Batch] = {}
    missing: list[ShardPlan] = []
    for batch in batches:
        for shard in batch.missing():
            owner[shard.name] = batch
            missing.append(shard)
    # Who plays longest begins first, or the last to play would play alone.
    missing.sort(key=lambda shard: -max(spec.horizon for spec in shard.specs))
    commits: dict[str, Commit] = {}
    waiting: dict[str, list[EpisodeRecord]] = {}
    storing: deque[_Stored] = deque()
    total = sum(len(shard.specs) for shard in missing)
    for shard, record in followed(play(missing, backend, crew), what, total):
        ended = waiting.setdefault(shard.name, [])
        ended.append(record)
        if len(ended) == len(shard.specs):
            storing.append(_stored(backend, owner[shard.name], shard, waiting.pop(shard.name)))
        # What is being written elsewhere is kept here until it is there, and no more of it than is played.
        while len(storing) > backend.side_by_side:
            commits.update([storing.popleft().settled()])
    commits.update(each.settled() for each in storing)
    for batch in batches:
        batch.publish()
    return Outcome(commits, sum(len(batch.shards) for batch in batches) - len(missing))


@runtime_checkable
class Storing(Protocol):
    """A backend that lets a shard be written where it was played."""

    def store(self, shard: str, home: Path, write: Callable[[], Commit]) -> Callable[[], Commit | None]:
        """Lets `write`, which stores the shard of this name below `home`, be called there. What is returned
        waits for it, and says what it said; None where it could not: the place is gone, or `home` is not
        there. It may be called where it was done already."""
        ...


class _Stored(NamedTuple):
    """A shard that was given to be written."""

    batch: Batch
    shard: ShardPlan
    write: Callable[[], Commit]
    written: Callable[[], Commit | None]
    """waits until it was, elsewhere"""

    def settled(self) -> tuple[str, Commit]:
        """Its name and how it was stored: elsewhere, or here where that failed or cannot be seen."""
        commit = self.written()
        if commit is None or not self.batch.is_whole(self.shard):
            commit = self.write()
        return self.shard.name, commit


def _stored(
    backend: RolloutBackend, batch: Batch, shard: ShardPlan, records: Sequence[EpisodeRecord]
) -> _Stored:
    write = partial(batch.commit, shard, records)
    if isinstance(backend, Storing):
        batch.home.mkdir(parents=True, exist_ok=True)
        return _Stored(batch, shard, write, backend.store(shard.name, batch.home, write))
    commit = write()
    return _Stored(batch, shard, write, lambda: commit)


def play(shards: Sequence[ShardPlan], backend: RolloutBackend, crew: Crew) -> Iterator[Ended]:
    """Every episode of these shards, as it ends.

    Where there are many, they sit at two tables, and one has its round judged and its model asked while the
    worlds of the other are stepped.
    """
    waiting = deque(shards)
    many = sum(len(shard.specs) for shard in shards) > FEW and backend.open_at_once is None
    lanes = min(2, backend.side_by_side) if many else 1
    # As many at one as at the other: with all of them at the first there would be nothing to step meanwhile.
    most = min(backend.side_by_side // lanes, ceil(len(shards) / lanes))
    tables = deque(_Table(backend, crew, most) for _ in range(lanes))
    for table in tables:
        table.deal(waiting)
    while any(table.seats for table in tables):
        table = tables[0]
        yield from table.judged()
        if len(tables) > 1 and not waiting and sum(len(each.seats) for each in tables) <= FEW:
            other = tables.pop()
            yield from other.judged()
            table.seats += other.seats
        table.deal(waiting)
        tables.rotate()


class _Table:
    """Episodes that have their rounds together."""

    def __init__(self, backend: RolloutBackend, crew: Crew, most: int) -> None:
        self.seats: list[_Seat] = []
        self._backend = backend
        self._crew = crew
        self._most = most
        self._reports: Iterator[Reported] = iter(())

    def deal(self, waiting: deque[ShardPlan]) -> None:
        """Seats more shards where there is room, and hands the backend the orders of the next round."""
        while waiting and len({seat.shard.name for seat in self.seats}) < self._most:
            shard = waiting.popleft()
            self.seats += [_Seat(shard, spec, self._crew) for spec in shard.specs]
        self.seats.sort(key=lambda seat: seat.episode.episode_id)
        self._reports = self._backend.play(
            [Addressed(seat.shard.name, seat.episode.episode_id, order) for seat, order in self._orders()]
        )

    def _orders(self) -> Iterator[tuple["_Seat", Order]]:
        """What the seats want of the backend; the first of them open their worlds where not all may at
        once."""
        most = self._backend.open_at_once
        opened = sum(seat.opened for seat in self.seats)
        for seat in self.seats:
            if isinstance(seat.wants, Open) and not seat.opened:
                if most is not None and opened >= most:
                    continue
                seat.opened = True
                opened += 1
            if isinstance(seat.wants, Open | Go):
                yield seat, seat.wants

    def judged(self) -> Iterator[Ended]:
        """The round that was ordered, to its end."""
        yield from _round(self.seats, dict(self._reports), self._crew)
        playing = [seat for seat in self.seats if not seat.ended]
        shards = {seat.shard.name for seat in playing}
        for name in sorted({seat.shard.name for seat in self.seats} - shards):
            self._backend.finish(Done(name))
        if self._backend.open_at_once is not None:
            for seat in self.seats:
                if seat.ended and seat.shard.name in shards:
                    self._backend.finish(Done(seat.shard.name, seat.episode.episode_id))
        self.seats = playing


@dataclass
class _Seat:
    """One episode at the table: what it wants next, or that it has ended."""

    shard: ShardPlan
    spec: EpisodeSpec
    crew: Crew
    tries: int = 0
    ended: bool = False
    opened: bool = False
    """whether its world was ordered"""
    wants: Demand | Open | None = None
    episode: Episode = field(init=False)
    course: Course = field(init=False)

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """The episode from its beginning."""
        self.tries += 1
        self.episode = self.crew.begin(self.spec)
        self.course = self.episode.course()
        self.wants = Open(self.spec, self.episode.task)

    def go_on(self, reply: ModelAnswer | Judged | None) -> None:
        """Hands the episode what it waited for."""
        try:
            self.wants = self.course.send(reply)  # type: ignore[arg-type]  # the first send is None
        except StopIteration:
            self._over()

    def lost(self, why: str) -> None:
        """The environment failed."""
        self.course.close()
        self.episode.give_up(why)
        self._over()

    def _over(self) -> None:
        if self.episode.end_reason == "infrastructure" and self.tries < TRIES:
            self.begin()
        else:
            self.wants = None
            self.ended = True


def _round(table: Sequence[_Seat], reports: Mapping[str, Report], crew: Crew) -> Iterator[Ended]:
    """What comes of a round's reports for these seats, which are sorted by episode."""
    seats = {seat.episode.episode_id: seat for seat in table}
    for episode_id in sorted(reports):
        match reports[episode_id]:
            case Opening() as opening:
                seats[episode_id].episode.open(opening)
                seats[episode_id].go_on(None)
            case AttemptRun() as run:
                seats[episode_id].episode.arrived(run)
            case Lost(why):
                seats[episode_id].lost(why)
    runs = {name: report for name, report in reports.items() if isinstance(report, AttemptRun)}
    attempted = [seat for seat in table if seat.episode.episode_id in runs]
    for seat, fact in zip(attempted, _judge([seat.episode for seat in attempted], crew), strict=True):
        seat.go_on(Judged(runs[seat.episode.episode_id], fact))
    asking = [(seat, seat.wants) for seat in table if isinstance(seat.wants, ModelRequest)]
    answers = _ask([(seat.spec.planner_seed, request) for seat, request in asking], crew)
    for (seat, _), answer in zip(asking, answers, strict=True):
        seat.go_on(answer)
    for seat in table:
        if seat.ended:
            yield Ended(seat.shard, seat.episode.record(seat.tries))


def _judge(episodes: Sequence[Episode], crew: Crew) -> list[FeedbackFact]:
    """Monitor's word on the last attempt of each episode, all of them in one call."""
    if not episodes:
        return []
    trace = trace_of(episode.latest() for episode in episodes)
    judged = [row for episode in episodes for row in episode.judged()]
    earlier = pl.DataFrame(judged, schema=EARLIER, orient="row")
    feedback = monitor(trace, crew.domain, crew.monitor_settings, earlier)
    facts = facts_from(feedback, trace.attempts, trace.events, trace.episodes)
    by_episode = {fact.episode_id: fact for fact in facts.values()}
    return [by_episode[episode.episode_id] for episode in episodes]


def _ask(asking: Sequence[tuple[int, ModelRequest]], crew: Crew) -> list[ModelAnswer]:
    """The answers to all (planner seed, request), in their order; each model is asked once."""
    models = [crew.model(request.role, seed) for seed, request in asking]
    answers: dict[int, ModelAnswer] = {}
    for model in {id(model): model for model in models}.values():
        own = [index for index, each in enumerate(models) if each is model]
        answers.update(zip(own, model.generate([asking[index][1] for index in own]), strict=True))
    return [answers[index] for index in range(len(asking))]
