"""Whose knowledge it is: what one model learnt is not given to another unless somebody asks for it.

A build remembers its models by what they proposed: every candidate in the log says who made it. The fold
hands knowledge on from build to build, so that the models behind a build's snapshot are those of all
candidates up to it. A model is its engine and its name; how it draws and what it may say at most does not
make it another.

>>> model_of("rules-standin/minecraft/0123456789ab"), model_of("openai/qwen3@localhost/0123456789ab")
('rules-standin', 'openai/qwen3@localhost')
"""

from pathlib import Path
from typing import Final

from warehouse import log
from warehouse.exchange import UNKNOWN_MODEL

STAND_IN: Final = "rules-standin"
_OLD_NAMES: Final = ("rules", STAND_IN)


class OtherModelError(ValueError):
    """The knowledge was learnt with another model; the text says what to do."""


def model_of(engine: str) -> str:
    """The model behind an engine's full name, which ends in a digest of its settings."""
    first, _, rest = engine.partition("/")
    if first in _OLD_NAMES:
        return STAND_IN
    return f"{first}/{rest.rpartition('/')[0] or rest}" if rest else first


def learnt_with(home: Path, build: str) -> list[str]:
    """The models whose candidates went into what `build` knows, sorted; empty where nothing was proposed."""
    rows = log.read(home, "candidates").select("build", "engine").unique()
    engines = {engine for of, engine in rows.iter_rows() if of <= build}
    return sorted({model_of(one) if one else UNKNOWN_MODEL for said in engines for one in said.split(", ")})


def refuse_other_models(home: Path, build: str, planner: str | None) -> None:
    """`OtherModelError` where another model than `planner` had a part in what `build` knows; None is the
    stand-in."""
    own = STAND_IN if planner is None else model_of(planner)
    others = [model for model in learnt_with(home, build) if model != own]
    if others:
        raise OtherModelError(
            f"what build {build} knows was learnt with {', '.join(others)}, and {own} would play with it: "
            f"give {own} a data home of its own (MINEEVOLVE_DATA), or ask for it with --any-model"
        )
