"""What a person chooses of a training or an evaluation."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import dagster as dg
from pydantic import Field

from assets.partitions import IMPORTED
from assets.resources import DataHome, Model
from prompts.engines.beliefs import StandInSettings, standin_settings
from prompts.engines.models import RulesRow
from prompts.engines.registry import counter_of
from prompts.language_model import LanguageModel
from rollouts.agent import FULL, agent_row
from rollouts.exercise import Exercise, ExerciseError, Mind, stand_in
from rollouts.worlds.registry import Venue
from warehouse.domains import Domain
from warehouse.suites import DEFAULT_SUITE, find_suite


class NotPlayedError(ValueError):
    """The group is filled from recordings and never played."""


class ExerciseConfig(dg.Config):
    """Which tasks are played, how often and by whom. Changing any of these but `workers` and
    `update_store` changes the episodes; the number of workers cannot be seen in what is stored."""

    suite: str = Field(
        default=DEFAULT_SUITE, description="a suite that ships with the domain, or a JSON file"
    )
    tasks: list[str] = Field(default_factory=list, description="only these tasks of the group; none: all")
    episodes: int = Field(default=3, gt=0, description="worlds per task")
    worlds: dict[str, int] = Field(
        default_factory=dict, description="training worlds by task, where they are not `episodes`"
    )
    update_store: bool = Field(
        default=True,
        description="whether the training counts: if not, the uses of knowledge in it are not logged, and "
        "its build must not be learnt from",
    )
    planners: int = Field(
        default=1,
        gt=0,
        description="planner seeds; training gives each world to one of them, evaluation crosses them",
    )
    crossed: bool = Field(
        default=True, description="whether evaluation gives every world to every planner, or takes turns"
    )
    frozen_worlds: int | None = Field(
        default=None, gt=0, description="evaluate the snapshot in only so many of the worlds; none: in all"
    )
    in_full: list[str] = Field(
        default_factory=list,
        description="builds that are evaluated in all worlds, whatever frozen_worlds says",
    )
    agent: str = Field(default=FULL, description="a row of rollouts/agents.toml")
    workers: int = Field(default=2, ge=0, description="processes that step worlds; 0: this one does")
    horizon_cap: int | None = Field(
        default=None, gt=0, description="ticks after which every episode ends, for small runs"
    )
    any_model: bool = Field(
        default=False, description="play with knowledge that another model learnt (docs/knowledge.md)"
    )
    seed: int = Field(default=0, description="the seed that world seeds are derived from")
    misconceptions: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="share of the stand-in's facts that are wrong, for studies; none: as standin.toml says",
    )

    def of_build(self, build: str) -> "ExerciseConfig":
        """What is chosen for one of the builds that are evaluated together."""
        return self.model_copy(update={"frozen_worlds": None}) if build in self.in_full else self

    def exercises(
        self, domain: Domain, groups: Sequence[str], mind: Mind | None = None, venue: Venue | None = None
    ) -> dict[str, Exercise]:
        """What is played in each of these groups, by `mind` or the stand-in, at `venue` or where the domain
        is played usually; one that has none of the named tasks, and that of recordings, is left out.
        `ExerciseError` for a task that is in none of them, `NotPlayedError` where nothing is left."""
        suite = find_suite(self.suite, domain)
        row = agent_row(self.agent)
        standin = _standin(self.misconceptions)
        figures = self.model_dump(
            include={"episodes", "planners", "crossed", "frozen_worlds", "seed", "horizon_cap"}
        )
        if strangers := sorted(set(self.tasks) - {task.id for task in suite.tasks}):
            raise ExerciseError(f"the suite has no task {', '.join(strangers)}")
        named = {
            group: [task.id for task in suite.tasks if task.group == group and task.id in self.tasks]
            for group in groups
            if group != IMPORTED
        }
        played = {group: own for group, own in named.items() if own or not self.tasks}
        if not played and list(groups) == [IMPORTED]:
            raise NotPlayedError(f"the group '{IMPORTED}' is filled from recordings; it has no tasks to play")
        if not played:
            raise NotPlayedError(f"none of {', '.join(self.tasks)} is in {', '.join(groups)}")
        return {
            group: Exercise.of_group(
                domain, suite, group, own, row, standin, mind=mind, worlds=self.worlds, venue=venue, **figures
            )
            for group, own in played.items()
        }


class InducerConfig(dg.Config):
    """Whose mind the stand-in has when it induces. A real model has one, and takes no notice."""

    for_rollouts: bool = Field(
        default=False,
        description="the planner's own, with its misconceptions: true facts would get into remedies without "
        "having been learnt",
    )
    misconceptions: float | None = Field(
        default=None, ge=0, le=1, description="as in the training's configuration"
    )


class LearningModel(Model):
    """The model that agents and Inducer ask."""

    @contextmanager
    def inducer(self, home: DataHome, build: str, config: InducerConfig) -> Iterator[LanguageModel]:
        """The model that Inducer asks about `build`."""
        with self.answering(home, build) as models:
            if config.for_rollouts and isinstance(self.chosen, RulesRow):
                yield stand_in(home.domain, self.seed, _standin(config.misconceptions))
            else:
                yield models(self.seed)

    @contextmanager
    def mind(self, home: DataHome, build: str) -> Iterator[Mind | None]:
        """Whom the agents of `build` ask: the model, drawing by the planner's seed; null for the stand-in."""
        if isinstance(self.chosen, RulesRow):
            yield None
            return
        with self.answering(home, build) as models:
            yield Mind(lambda planner_seed: models(self.seed + planner_seed), counter_of(self.chosen))


def _standin(misconceptions: float | None) -> StandInSettings | None:
    return None if misconceptions is None else standin_settings().with_misconceptions(misconceptions)
