"""The task suite: what an agent is asked, and the exact oracle that says whether it has it.

    suite = load_suite(Path("tasks.json"), load_domain("..."))
    accepts(suite.task("wooden_05"), {"...": 1})

`lint` proves each oracle before anyone trusts it.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from warehouse.domains import Domain

Judge = Literal["inventory", "event", "unreachable"]
Difficulty = Literal["easy", "hard"]

_QUOTED = re.compile(r'"([^"]+)"')
# More than any task asks for, so that no number of a wrong item can pass for the right one.
_PLENTY = 64


class Task(BaseModel):
    """One task. `any_of` and `count` are the target: so many, together, of the items behind these names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    group: str
    kind: str
    instruction: str
    horizon_ticks: int = Field(gt=0, description="Budget, in ticks; the suite says how many make a minute.")
    any_of: tuple[str, ...] = Field(
        description="Items and #tags; none where the event alone is asked for, which no inventory shows."
    )
    count: int = Field(gt=0)
    verifiable_by: Judge
    note: str = Field(default="", description="Why the inventory cannot judge, or the target not be reached.")
    accepted: frozenset[str] = Field(
        default=frozenset(), description="Items behind any_of; set by the loader, not read from the file."
    )

    @model_validator(mode="after")
    def _an_exception_says_why(self) -> Self:
        if self.verifiable_by != "inventory" and not self.note:
            raise ValueError(f"{self.id}: {self.verifiable_by!r} needs a note")
        if self.verifiable_by == "event" and self.event is None:
            raise ValueError(f"{self.id}: the note must quote the event")
        if not self.any_of and self.verifiable_by != "event":
            raise ValueError(f"{self.id}: any_of may be empty only where an event judges")
        return self

    @property
    def event(self) -> str | None:
        """The name of the event without which the inventory proves nothing; None where it proves enough."""
        quoted = _QUOTED.search(self.note) if self.verifiable_by == "event" else None
        return quoted[1] if quoted else None


class Suite(BaseModel):
    """A suite file. Tasks keep the file's order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    rule: str
    ticks_per_minute: int = Field(gt=0)
    tasks: tuple[Task, ...] = Field(min_length=1)
    difficulty: dict[str, Difficulty] = Field(
        default_factory=dict, description="Of groups, for averages over the easy and the hard ones."
    )

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        ids = [task.id for task in self.tasks]
        twice = sorted({each for each in ids if ids.count(each) > 1})
        if twice:
            raise ValueError(f"task ids used twice: {twice}")
        return self

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups, in the order of their first tasks."""
        return tuple(dict.fromkeys(task.group for task in self.tasks))

    def task(self, task_id: str) -> Task:
        """The task of that id; `KeyError` if there is none."""
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise KeyError(task_id)


def load_suite(path: Path, domain: Domain) -> Suite:
    """The suite in the JSON file `path`, its targets resolved in `domain`.

    Raises pydantic's `ValidationError` for a malformed file, and `ValueError` for a target that the domain
    does not know.
    """
    return resolved(Suite.model_validate_json(path.read_text(encoding="utf-8")), domain)


def resolved(suite: Suite, domain: Domain) -> Suite:
    """The suite with its targets looked up in `domain`; `ValueError` for one that is not known there."""
    return suite.model_copy(update={"tasks": tuple(_resolved(task, domain) for task in suite.tasks)})


def _resolved(task: Task, domain: Domain) -> Task:
    behind = {name: domain.expand(name) for name in task.any_of}
    unknown = sorted(name for name, items in behind.items() if not items)
    if unknown:
        raise ValueError(f"task {task.id}: {domain.name} has no {', '.join(unknown)}")
    return task.model_copy(update={"accepted": frozenset().union(*behind.values())})


def accepts(task: Task, inventory: Mapping[str, int], events: Collection[str] = ()) -> bool:
    """Whether `inventory` (item -> count, all slots summed) fulfils `task`, exactly.

    The counts of all accepted items are added up. A task that the inventory cannot judge needs its event
    among `events`, the names of what happened in the episode, as well; where it names no item the event is
    enough.
    """
    if task.event is not None and task.event not in events:
        return False
    if not task.any_of:
        return True
    return sum(inventory.get(item, 0) for item in task.accepted) >= task.count


@dataclass(frozen=True)
class LintResult:
    """What was proved of one task's oracle.

    `ok` says that the oracle does what the task says. `exception` is the task's note where that is not
    enough (no inventory can tell, or no agent can get there), else "". `accepted` are the items that suffice
    on their own, `rejected` is how many other items of the domain do not.
    """

    task_id: str
    ok: bool
    exception: str
    accepted: tuple[str, ...]
    rejected: int
    verdict: str


def lint(tasks: Iterable[Task], domain: Domain) -> list[LintResult]:
    """Proves each task's oracle against every item of `domain`.

    It must accept each item behind `any_of`, on its own, at the task's count, reject one fewer, and reject 64
    (or the count, if that is more) of every other item; and where an event is needed, reject everything
    without it. Where an event alone is asked for, it must accept the event with nothing in hand.
    """
    return [_lint_one(task, domain) for task in tasks]


def _lint_one(task: Task, domain: Domain) -> LintResult:
    wanted = frozenset().union(*(domain.expand(name) for name in task.any_of))
    events = (task.event,) if task.event else ()
    if not task.any_of:
        return _lint_event(task, domain)
    plenty = max(_PLENTY, task.count)
    others = sorted(domain.items - wanted)
    accepted = [item for item in sorted(wanted) if accepts(task, {item: task.count}, events)]
    faults = [f"has no item behind {name}" for name in task.any_of if not domain.expand(name)]
    faults += [f"rejects {item}" for item in sorted(wanted - set(accepted))]
    if any(accepts(task, {item: task.count - 1}, events) for item in wanted):
        faults.append("accepts one too few")
    wrong = [item for item in others if accepts(task, {item: plenty}, events)]
    faults += [f"accepts {item}" for item in wrong]
    if accepts(task, dict.fromkeys(others, plenty), events):
        faults.append("accepts the other items together")
    if events and any(accepts(task, {item: plenty}) for item in domain.items):
        faults.append("accepts an inventory without the event")
    return LintResult(
        task_id=task.id,
        ok=not faults,
        exception=task.note if task.verifiable_by != "inventory" else "",
        accepted=tuple(accepted),
        rejected=len(others) - len(wrong),
        verdict=_verdict(task, faults),
    )


def _lint_event(task: Task, domain: Domain) -> LintResult:
    """The proof for a task that asks for an event and for no item."""
    everything = dict.fromkeys(domain.items, _PLENTY)
    faults = [] if accepts(task, {}, (task.event or "",)) else ["rejects the event"]
    passed = [item for item in sorted(domain.items) if accepts(task, {item: _PLENTY})]
    if passed or accepts(task, everything) or accepts(task, everything, ("another event",)):
        faults.append("accepts an inventory without the event")
    return LintResult(
        task_id=task.id,
        ok=not faults,
        exception=task.note,
        accepted=(),
        rejected=len(domain.items) - len(passed),
        verdict=_verdict(task, faults),
    )


def _verdict(task: Task, faults: list[str]) -> str:
    if faults:
        return f"wrong: {'; '.join(faults)}"
    if task.verifiable_by == "inventory":
        return "exact"
    return f"exact, but {task.verifiable_by}: {task.note}"
