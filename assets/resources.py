"""What assets are given: the data home with its domain, and the language model that Inducer asks."""

from pathlib import Path
from typing import Any

import dagster as dg

from prompts.engines.registry import engine
from prompts.language_model import LanguageModel
from warehouse.domains import Domain, load_domain


class DataHome(dg.ConfigurableResource[Any]):
    """The folder that everything is written below, and the domain that its traces are of."""

    path: str
    domain_name: str = "minecraft"

    @property
    def root(self) -> Path:
        return Path(self.path)

    @property
    def domain(self) -> Domain:
        return load_domain(self.domain_name)


class Model(dg.ConfigurableResource[Any]):
    """A language model engine by name, with its seed."""

    engine: str = "rules"
    seed: int = 0

    def language_model(self, domain: Domain) -> LanguageModel:
        return engine(self.engine, domain, seed=self.seed)
