"""The engines by the name that a setting gives."""

from prompts.engines.rules import RulesStandIn
from prompts.language_model import LanguageModel
from warehouse.domains import Domain

ENGINES = ("rules",)


class UnknownEngineError(ValueError):
    """No engine has the name that a setting gives."""


def engine(name: str, domain: Domain, *, seed: int = 0) -> LanguageModel:
    """The engine called `name`, for `domain`; `UnknownEngineError` lists the names there are."""
    if name == "rules":
        return RulesStandIn(domain, seed=seed)
    raise UnknownEngineError(f"no engine {name!r}; known: {', '.join(ENGINES)}")
