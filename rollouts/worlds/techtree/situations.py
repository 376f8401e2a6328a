"""Situations in which an attempt fails for a reason that the game's rules decide, and what would help: data
(situations.toml), read here. One is a stage of techtree, a subgoal, and the right answer to its failure.
"""

from pathlib import Path
from typing import Annotated, Final, Literal

import orjson
from pydantic import Field, ValidationError

from rollouts.protocols import Subgoal
from rollouts.worlds.techtree.settings import Settings
from rollouts.worlds.techtree.stages import StagedWorld, stage_of
from warehouse.domains import Domain
from warehouse.knowledge import Check, Record, Step
from warehouse.toml_file import TomlFileError, read_toml

SITUATIONS: Final = Path(__file__).with_name("situations.toml")


class SituationFileError(ValueError):
    """The situations' file says something that no situation can be; the text names the row."""


class Wanted(Record):
    """A subgoal as a planner would write it: so many of the target, or of `check`, held in the end."""

    kind: str
    target: str | None = None
    count: Annotated[int, Field(ge=1)] = 1
    seconds: Annotated[float, Field(gt=0)]
    check: str | None = None

    @property
    def subgoal(self) -> Subgoal:
        """The subgoal, its oracle an exact check of the inventory."""
        held = self.check or self.target or ""
        words = f"{self.kind} {self.count} {(self.target or held).replace('_', ' ')}"
        checks = (Check(type="inv_ge", name=held, value=float(self.count)),)
        return Subgoal(
            "wanted", words, self.kind, self.target, self.count, timeout_s=self.seconds, checks=checks
        )


class Situation(Record):
    """One way to fail.

    `earlier` are subgoals that failed before in the episode, and `attempts` is how often `goal` is tried: as
    often as it takes for Monitor to call the remedy due (eq. 5). `failure` are the failure types that are
    right, `names` the things whose lack is the cause, or that are held in place of them; where no thing is
    lacking, the cause is one of the types, or something about one of `fields`. `repair` is one that helps,
    `rule` says why by the rules of the game.
    """

    name: Annotated[str, Field(min_length=1, max_length=60)]
    rule: Annotated[str, Field(min_length=1)]
    goal: Wanted
    pack: dict[str, int] = Field(default_factory=dict)
    stage: tuple[tuple[str | int, ...], ...] = ()
    earlier: tuple[Wanted, ...] = ()
    attempts: Annotated[int, Field(ge=1, le=4)] = 1
    seed: Annotated[int, Field(ge=0)] = 0
    ground: Literal["flat", "grown"] = "flat"
    failure: Annotated[tuple[str, ...], Field(min_length=1)]
    names: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    repair: Annotated[tuple[Step, ...], Field(min_length=1)]

    def world(self, domain: Domain) -> StagedWorld:
        """A world that is this situation at every reset."""
        return StagedWorld(domain, Settings(ground=self.ground), self.pack, stage_of(self.stage))


def load_situations(path: Path | None = None) -> tuple[Situation, ...]:
    """The situations of a file, by default those that ship, in their order.

    `SituationFileError` names one that is none, or whose name is taken.
    """
    path = path or SITUATIONS
    found: dict[str, Situation] = {}
    try:
        rows = read_toml(path).get("situation", [])
    except TomlFileError as error:
        raise SituationFileError(str(error)) from error
    for number, row in enumerate(rows, start=1):
        try:
            situation = Situation.model_validate_json(orjson.dumps(row))
            stage_of(situation.stage)
        except (ValidationError, ValueError, TypeError) as error:
            raise SituationFileError(f"{path}: situation {number}: {error}") from error
        if found.setdefault(situation.name, situation) is not situation:
            raise SituationFileError(f"{path}: situation {number}: the name {situation.name!r} is taken")
    return tuple(found.values())
