"""Curricula: which tasks, how many episodes and from which groups each build plays, and whether it learns.

    curriculum = find_curriculum("mixed", own_folder, load_domain("minecraft"))
    curriculum.build(3)    # what the third build plays, task by task

A curriculum is a TOML file, `shipped_curricula/<name>.toml` beside this module or `<name>.toml` in a folder
of the user's own, whose files replace shipped ones of the same name. A build is the episodes between two
checkpoints. Its tasks come in a seeded, stratified order (`dealt`), so that each group and each task has its
share of any stretch; a row that is repeated goes on in that order where the build before it stopped.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rollouts.agent import FULL, AgentFileError, agent_row
from warehouse.domains import Domain
from warehouse.ids import derive_id
from warehouse.suites import DEFAULT_SUITE, SuiteNotFoundError, find_suite
from warehouse.tasks import Suite, Task
from warehouse.toml_file import TomlFileError, read_toml

SHIPPED: Final = Path(__file__).with_name("shipped_curricula")


class CurriculumFileError(ValueError):
    """A file says something that no curriculum can be; the text names file, key and what is allowed."""


class UnknownCurriculumError(ValueError):
    """No file has this name; the text says which there are."""


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class PlayRow(_Row):
    """Episodes of some groups, or of some of their tasks."""

    groups: tuple[str, ...] = Field(min_length=1, description="task groups of the suite")
    tasks: tuple[str, ...] = Field(default=(), description="only these tasks of the groups; none: all")
    episodes: int = Field(gt=0, description="episodes in each build")


class BuildRow(_Row):
    """One build, or several alike."""

    repeat: int = Field(default=1, gt=0, description="so many builds in a row are like this")
    update_store: bool = Field(
        default=True, description="whether the build is learnt from; if not, it ends with what it began with"
    )
    play: tuple[PlayRow, ...] = Field(min_length=1, description="what is played")


class EvaluateRow(_Row):
    """What every checkpoint is asked, frozen, in worlds that nothing is learnt in."""

    groups: tuple[str, ...] = Field(min_length=1, description="task groups of the suite")
    tasks: tuple[str, ...] = Field(default=(), description="only these tasks of the groups; none: all")
    worlds: int = Field(default=3, gt=0, description="evaluation worlds per task")
    planners: int = Field(default=5, gt=0, description="planner seeds")
    crossed: bool = Field(default=True, description="whether every planner plays every world, or in turn")


class CurriculumFile(_Row):
    """What a file says."""

    doc: str = Field(min_length=1, description="what the curriculum is for, in a sentence or two")
    suite: str = Field(
        default=DEFAULT_SUITE, description="a suite that ships with the domain, or a JSON file"
    )
    agent: str = Field(default=FULL, description="a row of rollouts/agents.toml")
    planners: int = Field(default=5, gt=0, description="planner seeds that take turns in training")
    seed: int = Field(default=0, description="what the order of tasks and the worlds are drawn from")
    horizon_cap: int | None = Field(default=None, gt=0, description="ticks after which every episode ends")
    after_last: Literal["stop", "repeat"] = Field(
        default="stop", description="what follows the last build: nothing, or its row again and again"
    )
    builds: tuple[BuildRow, ...] = Field(min_length=1, description="the builds, one after the other")
    evaluate: EvaluateRow = Field(description="what every checkpoint is asked")


_MODELS: Final[Mapping[tuple[str, ...], type[_Row]]] = MappingProxyType(
    {(): CurriculumFile, ("builds",): BuildRow, ("builds", "play"): PlayRow, ("evaluate",): EvaluateRow}
)


@dataclass(frozen=True)
class PlannedBuild:
    """What one build plays."""

    number: int
    """its place in the curriculum, from 1"""
    update_store: bool
    episodes: Mapping[str, int]
    """task -> its episodes, tasks in the suite's order, none of them 0"""
    groups: tuple[str, ...]
    """the groups that these tasks are of, in the suite's order"""


@dataclass(frozen=True)
class Curriculum:
    """A file's content with the suite that it names."""

    name: str
    file: Path
    row: CurriculumFile
    suite: Suite

    @property
    def last(self) -> int | None:
        """The number of the last build; None where there is none."""
        return None if self.row.after_last == "repeat" else self.written

    @property
    def written(self) -> int:
        """The builds that the file spells out."""
        return sum(row.repeat for row in self.row.builds)

    def build(self, number: int) -> PlannedBuild | None:
        """What the build of this number (from 1) plays; None after the last one."""
        if self.last is not None and number > self.last:
            return None
        rows = list(islice(self._rows(), number))
        row = rows[-1]
        played: Counter[str] = Counter()
        for play in row.play:
            tasks = chosen(self.suite, play.groups, play.tasks)
            earlier = sum(
                each.episodes
                for before in rows[:-1]
                for each in before.play
                if chosen(self.suite, each.groups, each.tasks) == tasks
            )
            order = dealt(tasks, self.row.seed)
            played.update(task.id for task in islice(order, earlier, earlier + play.episodes))
        own = [task for task in self.suite.tasks if played[task.id]]
        groups = tuple(group for group in self.suite.groups if any(task.group == group for task in own))
        return PlannedBuild(number, row.update_store, {task.id: played[task.id] for task in own}, groups)

    def _rows(self) -> Iterator[BuildRow]:
        for row in self.row.builds:
            yield from (row for _ in range(row.repeat))
        while True:
            yield self.row.builds[-1]


def chosen(suite: Suite, groups: Sequence[str], tasks: Sequence[str]) -> tuple[Task, ...]:
    """The tasks of the groups, or those of them that are named, in the suite's order."""
    return tuple(task for task in suite.tasks if task.group in groups and (not tasks or task.id in tasks))


def dealt(tasks: Sequence[Task], seed: int) -> Iterator[Task]:
    """The tasks over and over, all of them before any comes again, each time in another seeded order.

    The order is stratified: a group of m tasks has them at the places (i + u) / m of the round, i = 0 ...
    m-1, with u drawn for the group, so that a stretch of n episodes has about n·m/M of a group with m of M
    tasks.
    """
    sizes = Counter(task.group for task in tasks)
    for turn in count():
        place = {}
        for group in sizes:
            drawn = _drawn("phase of a group", seed, turn, group)
            own = [task for task in tasks if task.group == group]
            for i, task in enumerate(sorted(own, key=lambda each: _drawn("task", seed, turn, each.id))):
                place[task.id] = ((i + drawn) / sizes[group], task.id)
        yield from sorted(tasks, key=lambda task: place[task.id])


def _drawn(what: str, *of: int | str) -> float:
    """A number in [0, 1) that depends on nothing but these."""
    drawn = derive_id(what, list(of))
    return int(drawn, 16) / float(16 ** len(drawn))


def curriculum_files(own: Path | None) -> dict[str, Path]:
    """The file of each curriculum by name, sorted; a user's own take the place of shipped ones."""
    folders = [SHIPPED] if own is None else [SHIPPED, own]
    files = {path.stem: path for folder in folders for path in folder.glob("*.toml")}
    return {name: files[name] for name in sorted(files)}


def find_curriculum(named: str, own: Path | None, domain: Domain) -> Curriculum:
    """The curriculum of this name, else the one in the file of this path; `UnknownCurriculumError` lists
    those there are, `CurriculumFileError` says what is wrong with the file."""
    files = curriculum_files(own)
    path = files.get(named, Path(named))
    if not path.is_file():
        where = "" if own is None else f" ({own} and those that ship with the project)"
        raise UnknownCurriculumError(f"no curriculum {named}; there are: {', '.join(files)}{where}")
    return load_curriculum(path, domain)


def load_curriculum(path: Path, domain: Domain) -> Curriculum:
    """The curriculum in a file. `CurriculumFileError` names the file, the key and what is allowed there."""
    try:
        given = read_toml(path)
    except TomlFileError as error:
        raise CurriculumFileError(str(error)) from error
    try:
        # By way of JSON, whose strict reading takes a list for a tuple and "3" for no number.
        row = CurriculumFile.model_validate_json(orjson.dumps(given))
    except ValidationError as error:
        raise CurriculumFileError(f"{path}: {_fault(error)}") from error
    try:
        suite = find_suite(row.suite, domain)
    except (OSError, ValueError, SuiteNotFoundError) as error:
        raise CurriculumFileError(f"{path}: suite: {error}") from error
    try:
        agent_row(row.agent)
    except AgentFileError as error:
        raise CurriculumFileError(f"{path}: agent: {error}") from error
    places = {
        f"builds[{i}].play[{j}]": (play.groups, play.tasks)
        for i, build in enumerate(row.builds, 1)
        for j, play in enumerate(build.play, 1)
    }
    for place, (groups, tasks) in (places | {"evaluate": (row.evaluate.groups, row.evaluate.tasks)}).items():
        _refuse_strangers(f"{path}: {place}.groups", groups, suite.groups)
        within = [task.id for task in suite.tasks if task.group in groups]
        _refuse_strangers(f"{path}: {place}.tasks", tasks, within)
    return Curriculum(path.stem, path, row, suite)


def _refuse_strangers(where: str, named: Sequence[str], allowed: Sequence[str]) -> None:
    for each in named:
        if each not in allowed:
            raise CurriculumFileError(f"{where}: {each!r} is none of {', '.join(allowed)}")


def _fault(error: ValidationError) -> str:
    """The first thing that is wrong: its key, rows counted from 1, and what is allowed there."""
    fault = error.errors(include_url=False)[0]
    names = tuple(part for part in fault["loc"] if isinstance(part, str))
    key = _path(fault["loc"])
    model = _MODELS.get(names[:-1], CurriculumFile)
    known = model.model_fields.get(names[-1]) if names else None
    match fault["type"]:
        case "extra_forbidden":
            return f"{key}: no such key; there are: {', '.join(model.model_fields)}"
        case "missing":
            return f"{key}: is missing ({known.description if known else 'it has to be there'})"
        case "literal_error":
            allowed = ", ".join(get_args(known.annotation)) if known else fault["ctx"]["expected"]
            return f"{key}: {fault['input']!r} is none of {allowed}"
        case "bool_type":
            return f"{key}: {fault['input']!r} is none of true, false"
    meant = f" ({known.description})" if known else ""
    return f"{key}: {_said(fault)}, not {fault['input']!r}{meant}"


def _path(parts: Sequence[int | str]) -> str:
    path = ""
    for part in parts:
        path += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def _said(fault: Any) -> str:
    message = str(fault["msg"])
    return message[0].lower() + message[1:]
