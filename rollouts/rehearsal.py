"""What knowledge says to do, carried out: its steps as subgoals, one after the other, towards a goal."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rollouts.attempt import checks_hold
from rollouts.attempt_run import AttemptRun
from rollouts.protocols import Subgoal
from rollouts.sightings import Row
from warehouse.domains import Domain
from warehouse.knowledge import Step
from warehouse.records import TICKS_PER_SECOND

STEP_SECONDS: Final = 120.0
"""that a step of a repair may take; a step names no time"""


def subgoal_of(step: Step, number: int) -> Subgoal:
    """A step of a repair as it is given to the executor: what it says and nothing beside it, so that what a
    `use` means is the executor's to tell from the target."""
    return Subgoal(
        subgoal_id=f"repair_{number}",
        condition=" ".join((step.kind, (step.target or "").replace("_", " "))).strip(),
        kind=step.kind,
        target=step.target,
        count=step.count,
        timeout_s=STEP_SECONDS,
        checks=step.checks,
    )


def with_steps(steps: Sequence[Step], goal: Subgoal) -> tuple[Subgoal, ...]:
    """The steps, and then the goal itself."""
    return (*(subgoal_of(step, number) for number, step in enumerate(steps, 1)), goal)


def without_steps(steps: Sequence[Step], goal: Subgoal) -> tuple[Subgoal, ...]:
    """The goal alone, tried as often as attempts are made `with_steps`."""
    return (goal,) * (len(steps) + 1)


class Course:
    """Subgoals on the way to `goal`, carried out one after the other, whatever comes of each.

    It ends when the goal is about to be tried and its checks hold already, when all were tried, when the
    time (`limit`, game ticks) is over, or by death, and is decided by the goal's checks on the state that it
    ended in: `success` is null where they cannot tell. Where the world failed, it is `lost`.
    """

    def __init__(
        self, subgoals: Iterable[Subgoal], goal: Subgoal, state: Row, tick: int, limit: int, domain: Domain
    ) -> None:
        self.success: bool | None = None
        self.lost = False
        self.ticks = 0
        self._left = deque(subgoals)
        self._goal = goal
        self._state = state
        self._began = tick
        self._limit = limit
        self._domain = domain
        self._dead = False

    def next(self) -> Subgoal | None:
        """What is to be carried out now; None at the end."""
        holds = checks_hold(self._goal, self._state, self._domain)
        reached = bool(self._left) and self._left[0] is self._goal and holds is True
        if self.lost or self._dead or reached or not self._left or self.ticks >= self._limit:
            self.success = None if self.lost else False if self._dead else holds
            return None
        subgoal = self._left.popleft()
        seconds = (self._limit - self.ticks) / TICKS_PER_SECOND
        return replace(subgoal, timeout_s=min(subgoal.timeout_s, seconds))

    def heard(self, run: AttemptRun) -> None:
        """What came of it."""
        self._state = run.state_after
        self.ticks = run.end_tick - self._began
        self._dead = run.end_reason == "death"
        self.lost = run.end_reason == "infrastructure"
