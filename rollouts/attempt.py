"""One attempt at one subgoal, stepped to its end: the part of an episode that needs the world.

A `Stage` is an episode's world and executor in the process that steps them. What is decided between two
attempts (which subgoal, whether the plan has to be repaired) is decided elsewhere (rollouts/episode.py).
"""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from typing import Any, Final, NamedTuple, TypeVar

import polars as pl

from rollouts.attempt_run import AttemptRun, failure_event
from rollouts.evidence import rows_of, tick_frame
from rollouts.moves import MOVES, written
from rollouts.protocols import (
    Action,
    Advance,
    Branching,
    Closable,
    EpisodeSpec,
    Executor,
    Explaining,
    Insider,
    Move,
    Observation,
    Subgoal,
    Trial,
    World,
    WorldEvent,
)
from rollouts.sightings import Lookout, Row, Thing, changes, names_in, stations_near
from warehouse.domains import Domain
from warehouse.records import TICKS_PER_SECOND
from warehouse.state import check_holds, flatten_state
from warehouse.tasks import Task, accepts

_T = TypeVar("_T")
_IDLE_STEPS: Final = 1000
"""steps in a row that no tick passes in: more than any executor's patience, so the world stands still"""
LANDING: Final = 40
"""ticks that a body in the air is given to come down once the executor has stopped, beyond the attempt's
time; a jump takes 12"""


class WorldFailure(Exception):
    """The world, or the way to it, failed; the text says how."""


class Opening(NamedTuple):
    """The state of a world that was just made."""

    state: Row
    observes: tuple[str, ...]


@dataclass(frozen=True)
class StageKit:
    """How a process makes the worlds and executors of its episodes. Pickled into worker processes, so the two
    makers are functions that can be imported."""

    domain: Domain
    world: Callable[[EpisodeSpec, Domain], World]
    executor: Callable[[EpisodeSpec, Domain], Executor]
    side_by_side: int = 1
    """stages that a process steps at the same time, each in a thread of its own: for worlds that are
    processes themselves"""


def checks_hold(subgoal: Subgoal, state: Row, domain: Domain) -> bool | None:
    """Whether all checks of a subgoal hold in a state, absolute; None without checks, and where one cannot be
    decided and none is false."""
    if not subgoal.checks:
        return None
    flat = flatten_state(state, kind=subgoal.kind, target=subgoal.target)
    answers = [check_holds(check, flat, domain) for check in subgoal.checks]
    return False if False in answers else None if None in answers else True


class Stage:
    """An episode's world and executor, from its reset to its end."""

    def __init__(self, spec: EpisodeSpec, task: Task, kit: StageKit) -> None:
        self._spec = spec
        self._task = task
        self._domain = kit.domain
        self._world = kit.world(spec, kit.domain)
        self._executor = kit.executor(spec, kit.domain)
        self._lookout = Lookout(kit.domain)
        self._now: Observation | None = None
        self._happened: set[str] = set()
        self._at_rest = True
        """the height did not change in the last tick"""

    def copy(self) -> "Stage":
        """The stage as it stands between two attempts, to be gone on with by itself. `TypeError` where its
        world or its executor is none that can be (`Branching`)."""
        world, executor = self._world, self._executor
        if not isinstance(world, Branching) or not isinstance(executor, Branching):
            raise TypeError(f"{world.name} with {executor.name} cannot go on in two ways")
        other = copy(self)
        other._world, other._executor = world.copy(), executor.copy()
        other._lookout = Lookout(self._domain)
        other._happened = set(self._happened)
        return other

    def now(self) -> Opening:
        """The state that it stands in; `RuntimeError` before it was opened."""
        if self._now is None:
            raise RuntimeError("the stage was not opened")
        state = _Log(self._now, self._lookout, self._domain).state_now(self._now)
        return Opening(state, tuple(self._world.observes))

    def open(self) -> Opening:
        """A new world from the episode's seed. `WorldFailure` when it cannot be made."""
        self._happened = set()
        self._at_rest = True
        self._now = _of_world(partial(self._world.reset, self._spec.world_seed))
        return self.now()

    def close(self) -> None:
        """Gives back what the world and the executor hold, if anything."""
        for part in (self._world, self._executor):
            if isinstance(part, Closable):
                part.close()

    def run(self, attempt: int, subgoal: Subgoal) -> AttemptRun:
        """Steps the subgoal until its checks hold, its time is over, the executor gives up, the agent dies,
        the task is done, or the episode or the world ends.

        Checks that held from the start end nothing: there the executor says when it is done. Checks that
        depend on where the body is are met only where it is at rest: what a jump brings into reach is out of
        reach again a moment later. A success of the task counts at ticks before the horizon.
        """
        if self._now is None:
            raise RuntimeError("the stage was not opened")
        log = _Log(self._now, self._lookout, self._domain)
        try:
            _of_hands(partial(self._executor.start, subgoal, self._now))
            end = self._steps(subgoal, log)
        except WorldFailure as failure:
            log.failed(str(failure), self._now.tick)
            return log.ended(self._now, None, "infrastructure", attempt)
        success = checks_hold(subgoal, log.state_now(self._now), self._domain)
        reason = end.reason
        if reason == "death":
            success = False
        elif success:
            reason = "success"
        elif reason == "superseded":
            success = None  # cut short by the task's success: whether it would have been reached is open
        run = log.ended(self._now, success, reason, attempt)
        truths = list(self._world.truths(run.start_tick))
        if success is False and isinstance(self._world, Insider):
            trial = Trial(subgoal.kind, subgoal.target, run.start_tick, reason)
            truths.append(self._world.verdict(trial))
        return replace(run, won_at=end.won_at, truths=tuple(truths))

    def _steps(self, subgoal: Subgoal, log: "_Log") -> "_End":
        """Why the attempt ended, before its checks are looked at."""
        now = self._now
        assert now is not None
        watch = _Watch(subgoal, self._domain)
        from_start = watch.met(now, log, self._at_rest)
        limit = now.tick + max(1, round(subgoal.timeout_s * TICKS_PER_SECOND))
        deadline = min(limit, self._spec.horizon)
        stopped, idle = "timeout", 0
        while now.alive is not False and now.tick < deadline:
            move = _of_hands(partial(self._executor.act, now))
            if move is None:
                stopped = "agent_stopped"
                if isinstance(self._executor, Explaining) and (why := self._executor.why(now)) is not None:
                    log.add_event(why)
                break
            before = now.tick
            ticks = max(1, min(move.ticks, deadline - before))
            now, won_at = self._step(now, Move(move.action, ticks), log)
            idle = 0 if now.tick > before else idle + 1
            if idle > _IDLE_STEPS:
                raise WorldFailure(f"the world does not advance from tick {now.tick}")
            if won_at is not None:
                return _End("superseded", won_at)
            if not from_start and watch.met(now, log, self._at_rest):
                return _End("success", None)
        for _ in range(LANDING):
            if (
                now.alive is False
                or now.tick >= self._spec.horizon
                or not watch.hangs(now, log, self._at_rest)
            ):
                break
            now, won_at = self._step(now, Move(Action(), 1), log)
            if won_at is not None:
                return _End("superseded", won_at)
        if now.alive is False:
            return _End("death", None)
        return _End("horizon" if now.tick >= self._spec.horizon and stopped == "timeout" else stopped, None)

    def _step(self, now: Observation, move: Move, log: "_Log") -> "_Step":
        """Holds an action."""
        advance = _of_world(partial(self._world.step, move.action, move.ticks))
        won_at = self._won_at(now.inventory, advance)
        log.add(Move(move.action, advance.observation.tick - now.tick), advance)
        self._at_rest = _rests(now, advance)
        self._now = advance.observation
        return _Step(advance.observation, won_at)

    def _won_at(self, inventory: Mapping[str, int], advance: Advance) -> int | None:
        """The first tick before the horizon at which the oracle was met, if it was."""
        if not advance.events and not advance.changes:
            return None
        held = dict(inventory)
        for tick in sorted({each.tick for each in advance.events} | {each[0] for each in advance.changes}):
            self._happened.update(
                event.name for event in advance.events if event.tick == tick and event.name is not None
            )
            held.update({item: count for at, item, _, count in advance.changes if at == tick})
            if tick < self._spec.horizon and accepts(self._task, held, self._happened):
                return tick
        return None


class _Step(NamedTuple):
    now: Observation
    won_at: int | None
    """the tick at which the task's oracle was met, if it was"""


class _End(NamedTuple):
    reason: str
    won_at: int | None


class _Watch:
    """A subgoal's checks, evaluated only where something that they read may have changed."""

    def __init__(self, subgoal: Subgoal, domain: Domain) -> None:
        self._subgoal = subgoal
        self._domain = domain
        self._reads_height = any(check.type.startswith("ypos") for check in subgoal.checks)
        self._reads_place = self._reads_height or any(
            check.type == "station_near" for check in subgoal.checks
        )
        self._last: tuple[Any, ...] | None = None
        self._answer: bool | None = None

    def met(self, now: Observation, log: "_Log", at_rest: bool) -> bool | None:
        """Whether the checks hold now, and will in a moment as well."""
        return False if self._reads_place and not at_rest else self._fulfilled(now, log)

    def hangs(self, now: Observation, log: "_Log", at_rest: bool) -> bool:
        """Whether the checks hold, but by the height of a body that rises or falls."""
        return self._reads_place and not at_rest and self._fulfilled(now, log) is True

    def _fulfilled(self, now: Observation, log: "_Log") -> bool | None:
        read = (
            now.inventory,
            now.gui,
            now.alive,
            log.stations_near,
            now.y if self._reads_height else None,
        )
        if read != self._last:
            self._last = (dict(now.inventory), *read[1:])
            self._answer = checks_hold(self._subgoal, log.state_now(now), self._domain)
        return self._answer


class _Log:
    """What an attempt has shown so far."""

    def __init__(self, first: Observation, lookout: Lookout, domain: Domain) -> None:
        self._lookout = lookout
        self._domain = domain
        self._first = first
        self._moves: list[tuple[int, int, str]] = []
        self._advances: list[Advance] = []
        self._events: list[Row] = []
        self._view = lookout.look(first)
        self._near = None if self._view is None else stations_near(self._view, domain.reach)
        self._seen: set[Thing] = set(self._view or ())
        self._sightings = [] if self._view is None else changes({}, self._view, first.tick, domain.reach)
        self._state_before = self.state_now(first)

    @property
    def stations_near(self) -> list[str] | None:
        """The stations in reach; None where the world cannot see."""
        return self._near

    def add(self, move: Move, advance: Advance) -> None:
        """What was done next, and what came of it."""
        self._moves.append((len(self._moves), move.ticks, written(move.action)))
        self._advances.append(advance)
        for event in advance.events:
            self.add_event(event)
        view = self._lookout.look(advance.observation)
        if view is not self._view:
            if view is not None:
                self._sightings += changes(
                    self._view or {}, view, advance.observation.tick, self._domain.reach
                )
                self._seen.update(view)
            self._view = view
            self._near = None if view is None else stations_near(view, self._domain.reach)

    def add_event(self, event: WorldEvent) -> None:
        """Something that was said or happened."""
        self._events.append(
            {
                "tick": event.tick,
                "seq": len(self._events),
                "kind": event.kind,
                "name": event.name,
                "count": event.count,
                "text": event.text,
                "signal": event.signal,
            }
        )

    def failed(self, why: str, tick: int) -> None:
        """The world failed."""
        self._events.append(failure_event(tick, len(self._events), why))

    def state_now(self, now: Observation) -> Row:
        """The contract's state; `seen` is what was in view at any time of the attempt."""
        held = now.inventory
        return {
            "x": _told(now.x),
            "y": _told(now.y),
            "z": _told(now.z),
            "health": now.health,
            "hunger": now.hunger,
            "gui": now.gui,
            "equipped": now.equipped,
            "alive": now.alive,
            "inventory": [{"name": item, "count": held[item]} for item in sorted(held) if held[item]],
            "near": self.stations_near,
            "seen": None if self._view is None else names_in(self._seen),
        }

    def ended(self, now: Observation, success: bool | None, end_reason: str, attempt: int) -> AttemptRun:
        """The attempt as a record."""
        ticks = tick_frame(self._advances)
        changed = [change for advance in self._advances for change in advance.changes]
        return AttemptRun(
            attempt=attempt,
            start_tick=int(ticks["tick"][0]) if ticks.height else self._first.tick,
            end_tick=now.tick,
            success=success,
            end_reason=end_reason,
            state_before=self._state_before,
            state_after=self.state_now(now),
            ticks=ticks,
            events=rows_of("events", self._events),
            sightings=rows_of("sightings", self._sightings),
            inventory_changes=rows_of(
                "inventory_changes",
                [
                    {"tick": tick, "seq": seq, "item": item, "delta": delta, "count": count}
                    for seq, (tick, item, delta, count) in enumerate(changed)
                ],
            ),
            moves=pl.DataFrame(self._moves, schema=MOVES, orient="row"),
        )


def _told(coordinate: float) -> float | None:
    """The coordinate; NaN is that of a world that does not tell where the agent is."""
    return None if isnan(coordinate) else coordinate


def _rests(before: Observation, advance: Advance) -> bool:
    """Whether the height stayed the same in the last tick, or where the world gives no ticks, in the step."""
    heights = advance.ticks.get("y")
    if heights is not None and len(heights) > 1:
        return bool(heights[-1] == heights[-2])
    return advance.observation.y == before.y


def _of_hands(call: Callable[[], _T]) -> _T:
    """The call's value; an executor that lost its policy has lost the environment, and did not fail."""
    try:
        return call()
    except ConnectionError as error:
        raise WorldFailure(f"{type(error).__name__}: {error}") from error


def _of_world(call: Callable[[], _T]) -> _T:
    """The call's value; whatever the world raises is its failure and not the agent's."""
    try:
        return call()
    except Exception as error:
        raise WorldFailure(f"{type(error).__name__}: {error}") from error
