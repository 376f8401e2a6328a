"""Where task suites come from: those that a domain ships, by name, and files of a user's own.

    suite = find_suite("tech_tree", load_domain("minecraft"))

A shipped suite is `warehouse/domains/<domain>/suites/<name>.toml`, short to read and to write: groups with
their horizon, and tasks with what is particular of them. Ids are made from a task's group and place.
"""

import tomllib
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from warehouse.domains import Domain
from warehouse.tasks import Difficulty, Suite, load_suite, resolved

DEFAULT_SUITE: Final = "tech_tree"
_DOMAINS: Final = Path(__file__).with_name("domains")


class SuiteNotFoundError(ValueError):
    """Neither a shipped suite nor a file has this name; the text says which there are."""


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _TaskRow(_Row):
    kind: str
    instruction: str
    any_of: tuple[str, ...] = ()
    count: int = 1
    event: str | None = None
    without_it: str = Field(default="", description="what an inventory alone would let pass")
    unreachable: str | None = None

    def task(self, task_id: str, group: str, horizon_ticks: int) -> dict[str, Any]:
        """The task's row of a suite file."""
        judge, note = "inventory", ""
        if self.event is not None:
            judge = "event"
            note = f'needs the event "{self.event}": an inventory alone would accept {self.without_it}'
            if not self.any_of:
                note = f'shown by the event "{self.event}" alone: an inventory tells of {self.without_it}'
        elif self.unreachable is not None:
            judge, note = "unreachable", self.unreachable
        own = self.model_dump(include={"kind", "instruction", "any_of", "count"})
        return own | {
            "id": task_id,
            "group": group,
            "horizon_ticks": horizon_ticks,
            "verifiable_by": judge,
            "note": note,
        }


class _Group(_Row):
    name: str
    minutes: int
    difficulty: Difficulty
    tasks: tuple[_TaskRow, ...]


class _SuiteFile(_Row):
    source: str
    rule: str
    ticks_per_minute: int
    groups: tuple[_Group, ...]

    def suite(self) -> Suite:
        tasks = [
            task.task(f"{group.name}_{place:02}", group.name, group.minutes * self.ticks_per_minute)
            for group in self.groups
            for place, task in enumerate(group.tasks)
        ]
        return Suite.model_validate(
            {
                **self.model_dump(include={"source", "rule", "ticks_per_minute"}),
                "difficulty": {group.name: group.difficulty for group in self.groups},
                "tasks": tasks,
            }
        )


def shipped_suites(domain: Domain) -> list[str]:
    """The names of the suites that come with a domain."""
    return sorted(path.stem for path in (_DOMAINS / domain.name / "suites").glob("*.toml"))


def suite_groups(named: str, domain: str) -> tuple[str, ...]:
    """The groups of a suite that the domain of this name ships, in its order, without reading the domain;
    none where it ships no such suite."""
    path = _DOMAINS / domain / "suites" / f"{named}.toml"
    if not path.is_file():
        return ()
    return tuple(group["name"] for group in tomllib.loads(path.read_text(encoding="utf-8"))["groups"])


def find_suite(named: str, domain: Domain) -> Suite:
    """The suite that the domain ships under this name, else that in the JSON file of this path.

    `SuiteNotFoundError` if there is neither; pydantic's `ValidationError` and `ValueError` as `load_suite`.
    """
    if named in shipped_suites(domain):
        text = (_DOMAINS / domain.name / "suites" / f"{named}.toml").read_text(encoding="utf-8")
        return resolved(_SuiteFile.model_validate(tomllib.loads(text)).suite(), domain)
    path = Path(named)
    if not path.is_file():
        raise SuiteNotFoundError(
            f"no suite {named}: give a suite's JSON file, or one that comes with {domain.name}: "
            f"{', '.join(shipped_suites(domain))}"
        )
    return load_suite(path, domain)
