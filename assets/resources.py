"""What assets are given: the data home with its domain, and the language models that they ask."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from prompts.answering import answering
from prompts.engines.models import RULES, OpenAIRow, RulesRow, VllmRow, model_row
from prompts.engines.registry import BySeed
from rollouts.worlds.registry import Venue, venue_of
from warehouse.curator import CuratorSettings, curator_settings
from warehouse.domains import Domain, load_domain


class DataHome(dg.ConfigurableResource[Any]):
    """The folder that everything is written below, its domain, and how it is curated."""

    path: str
    domain_name: str = "minecraft"
    backtest: bool = True
    """whether Curator holds a new entry against the record (warehouse/backtest.py)"""
    world_name: str = ""
    """the world that is played in; none: the domain's usual one"""
    world_settings: dict[str, Any] = Field(default_factory=dict)
    executor_settings: dict[str, Any] = Field(default_factory=dict)

    @property
    def root(self) -> Path:
        return Path(self.path)

    @property
    def domain(self) -> Domain:
        return load_domain(self.domain_name)

    @property
    def curation(self) -> CuratorSettings:
        """How strict Curator is."""
        return curator_settings(backtest=self.backtest)

    @property
    def venue(self) -> Venue:
        """Where episodes are played."""
        return venue_of(self.domain_name, self.world_name, self.world_settings, self.executor_settings)


class Model(dg.ConfigurableResource[Any]):
    """A language model: a row of the models' file, by name. Whatever it starts ends with the step."""

    row: str = RULES
    file: str | None = None
    """the user's own file of models"""
    seed: int = 0

    @property
    def chosen(self) -> RulesRow | VllmRow | OpenAIRow:
        """The row."""
        return model_row(self.row, None if self.file is None else Path(self.file))

    @contextmanager
    def answering(self, home: DataHome, build: str) -> Iterator[BySeed]:
        """The model, by seed, for a step that works on `build`; it remembers its answers in `home`."""
        with answering(self.chosen, home.domain, home.root, build) as models:
            yield models


class Reviewer(Model):
    """The model that Curator's candidates are shown to; no row, no review."""

    row: str = ""

    @property
    def is_on(self) -> bool:
        """Whether there is anybody to ask."""
        return bool(self.row)


class Stepping(dg.ConfigurableResource[Any]):
    """Where worlds are stepped: in processes of this machine, or in actors of a Ray cluster."""

    backend: str = "local"
    ray_address: str = ""

    @property
    def cluster(self) -> str | None:
        """The cluster's address, empty for that of this machine; null: no cluster."""
        return self.ray_address if self.backend == "ray" else None


class TryOuts(dg.ConfigurableResource[Any]):
    """How far new knowledge is tried out: the share of a build's game ticks, 0 for not at all."""

    share: float = 0.15
