"""The figures that world and stand-in were given, and how often they changed since the first evaluation.

`rollouts/parameters.toml` is the record: for each file the hashes that it has had, oldest first, each with
the reason for the change. It is committed with the change, so the count needs no version control on the
machine that prints it; a test holds each file to the last hash of its list."""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from warehouse.ids import file_digest

RECORD: Final = Path(__file__).parents[1] / "parameters.toml"
ROOT: Final = RECORD.parents[1]


class Version(BaseModel):
    """A state of a parameter file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    reason: str = Field(min_length=1)


class Recorded(BaseModel):
    """A parameter file, by its path from the project's root, and its states, oldest first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    versions: tuple[Version, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Parameters:
    """A parameter file as it is installed. `is_recorded`: it is the last state of its record."""

    path: str
    sha256: str
    versions: tuple[Version, ...]

    @property
    def is_recorded(self) -> bool:
        return self.sha256 == self.versions[-1].sha256

    @property
    def changes(self) -> int:
        """Changes since the first evaluation; one that nobody recorded counts."""
        return len(self.versions) - self.is_recorded

    def concerns(self, worlds: Collection[str | None]) -> bool:
        """Whether it decides how episodes in these worlds go: it is of one of them, or of none."""
        return "/worlds/" not in self.path or any(f"/worlds/{each}/" in self.path for each in worlds)


@cache
def recorded(record: Path = RECORD) -> tuple[Recorded, ...]:
    """The record; pydantic's `ValidationError` for one that is malformed."""
    listed = tomllib.loads(record.read_text(encoding="utf-8"))["files"]
    return tuple(Recorded.model_validate(each) for each in listed)


def parameters(record: Path = RECORD, root: Path = ROOT) -> list[Parameters]:
    """Every recorded file below `root`, in the record's order."""
    return [Parameters(each.path, file_digest(root / each.path), each.versions) for each in recorded(record)]
