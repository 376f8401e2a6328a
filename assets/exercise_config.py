"""What a person chooses of a training or an evaluation."""

import dagster as dg
from pydantic import Field

from assets.partitions import IMPORTED
from assets.resources import Model
from prompts.language_model import LanguageModel
from rollouts.agent import FULL, agent_row
from rollouts.exercise import Exercise, stand_in
from warehouse.domains import Domain
from warehouse.suites import DEFAULT_SUITE, find_suite


class NotPlayedError(ValueError):
    """The group is filled from recordings and never played."""


class ExerciseConfig(dg.Config):
    """Which tasks are played, how often and by whom. Changing any of these but `workers` changes the
    episodes; the number of workers cannot be seen in what is stored."""

    suite: str = Field(
        default=DEFAULT_SUITE, description="a suite that ships with the domain, or a JSON file"
    )
    tasks: list[str] = Field(default_factory=list, description="only these tasks of the group; none: all")
    episodes: int = Field(default=3, gt=0, description="worlds per task")
    planners: int = Field(
        default=1,
        gt=0,
        description="planner seeds; training gives each world to one of them, evaluation crosses them",
    )
    agent: str = Field(default=FULL, description="a row of rollouts/agents.toml")
    workers: int = Field(default=2, ge=0, description="processes that step worlds; 0: this one does")
    horizon_cap: int | None = Field(
        default=None, gt=0, description="ticks after which every episode ends, for small runs"
    )
    seed: int = Field(default=0, description="the seed that world seeds are derived from")

    def exercise(self, domain: Domain, group: str) -> Exercise:
        """What is played in a group."""
        if group == IMPORTED:
            raise NotPlayedError(f"the group '{IMPORTED}' is filled from recordings; it has no tasks to play")
        return Exercise.of_group(
            domain,
            find_suite(self.suite, domain),
            group,
            self.tasks,
            agent_row(self.agent),
            episodes=self.episodes,
            planners=self.planners,
            seed=self.seed,
            horizon_cap=self.horizon_cap,
        )


class LearningModel(Model):
    """The engine that Inducer asks. For rollouts it is the planner's own mind, with the planner's
    misconceptions: true facts would get into remedies without anybody having learnt them."""

    for_rollouts: bool = False

    def language_model(self, domain: Domain) -> LanguageModel:
        return stand_in(domain, self.seed) if self.for_rollouts else super().language_model(domain)
