"""What a set of studies is made of: the curricula, their checkpoints, what these are asked."""

from pathlib import Path
from typing import Final

import orjson
import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from warehouse.shards import DamagedShardError, replacing, write_bytes

WITHOUT: Final = "skills_only"
"""the agent of rollouts/agents.toml that is shown no remedy of the snapshot"""


class NotMadeError(RuntimeError):
    """A study has nothing to read yet; the text names the command that makes it."""


class Checkpoint(BaseModel):
    """A build's snapshot, and how much was played for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    build: str
    episodes: int
    """training episodes up to here"""
    snapshot_id: str
    skills: int
    remedies: int


class Course(BaseModel):
    """A curriculum as it was made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    doc: str
    tasks: tuple[str, ...]
    """the tasks that its checkpoints are asked"""
    worlds: int
    """evaluation worlds for each of them"""
    checkpoints: tuple[Checkpoint, ...]

    @property
    def total(self) -> int:
        """Training episodes of all of it."""
        return self.checkpoints[-1].episodes

    @property
    def last(self) -> Checkpoint:
        """The last checkpoint."""
        return self.checkpoints[-1]


class StudyPlan(BaseModel):
    """Everything that the studies read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scale: str
    doc: str
    suite: str
    agent: str
    seed: int
    horizon_cap: int | None
    planners: int
    """planner seeds, which take turns in the worlds of a task"""
    accumulation: Course
    compared: tuple[Course, ...]

    @property
    def courses(self) -> tuple[Course, ...]:
        """All curricula that were made."""
        return (self.accumulation, *self.compared)


def studies_home(home: Path, scale: str) -> Path:
    """The folder of a scale's studies in a data home."""
    return home / "studies" / scale


def course_home(own: Path, name: str) -> Path:
    """The data home of a curriculum below `studies_home`."""
    return own / "curricula" / name


def filed_as(course: Course, checkpoint: Checkpoint, agent: str = "") -> str:
    """The build that a checkpoint's evaluation is filed under, with another agent than the plan's or not.

    >>> point = Checkpoint(build="0001", episodes=5, snapshot_id="s", skills=1, remedies=0)
    >>> course = Course(name="mixed", doc="-", tasks=(), worlds=1, checkpoints=(point,))
    >>> filed_as(course, point, "skills_only")
    'mixed-0001.skills_only'
    """
    return f"{course.name}-{checkpoint.build}" + (f".{agent}" if agent else "")


def write_plan(own: Path, plan: StudyPlan) -> Path:
    """Writes the plan down."""
    path = own / "plan.json"
    write_bytes(path, orjson.dumps(plan.model_dump(mode="json"), option=orjson.OPT_INDENT_2))
    return path


def read_plan(home: Path, scale: str) -> StudyPlan:
    """The plan of a scale. `NotMadeError` where nothing was made of it yet."""
    path = studies_home(home, scale) / "plan.json"
    if not path.is_file():
        raise NotMadeError(f"nothing was made of the studies yet: run `{command(scale)}`")
    try:
        return StudyPlan.model_validate(orjson.loads(path.read_bytes()))
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise DamagedShardError(f"{path} is damaged: {error}") from error


def command(scale: str) -> str:
    """What makes the studies of a scale."""
    return "mineevolve study full" + ("" if scale == "full" else f" --scale {scale}")


def write_figures(own: Path, name: str, rows: pl.DataFrame) -> Path:
    """Stores a study's table."""
    path = own / "figures" / f"{name}.parquet"
    with replacing(path) as temporary:
        rows.write_parquet(temporary, compression="zstd")
    return path


def read_figures(home: Path, scale: str, name: str) -> pl.DataFrame:
    """A study's table. `NotMadeError` where it was not made."""
    path = studies_home(home, scale) / "figures" / f"{name}.parquet"
    if not path.is_file():
        raise NotMadeError(f"the study's table {name} is missing: run `{command(scale)}`")
    return pl.read_parquet(path, glob=False)
