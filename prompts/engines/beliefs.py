"""What the stand-in takes for true: one copy of a domain's facts with misconceptions that its seed draws.

Each fact is wrong with the same probability, decided by the seed and the fact's name alone. So misconceptions
persist over calls, episodes and processes, and a larger share only adds to those of a smaller one: a sweep
over the share compares like with like. Things that are alike (planks of any wood) share one fact.

A wrong fact is one of the ways in which planners are wrong about recipes, tools, fuel and heights:

- recipe: the station is forgotten; or an ingredient's number is one off; or an ingredient is forgotten;
- block: the tool is forgotten; or it is a tier lower, or higher;
- trade: a number of its price is one off;
- smelting: that it takes fuel is forgotten; a fuel: it is thought to last twice as long;
- height: nothing is known of it, or it is sought a band of its own size too high.

Who plans by a wrong copy may only be corrected by what a request says (prompts/engines/planner.py).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from prompts.situations import RemedySituation
from warehouse.domains import Domain, Recipe, Trade
from warehouse.ids import digest
from warehouse.toml_file import read_toml

SETTINGS_FILE: Final = Path(__file__).with_name("standin.toml")

# Which failure is easily taken for which: both look alike from where the agent stands.
_TAKEN_FOR: Final = MappingProxyType(
    {
        "MISSING_STATION": "MISSING_INGREDIENT",
        "MISSING_INGREDIENT": "MISSING_STATION",
        "MISSING_TOOL": "TARGET_UNREACHABLE",
        "NO_FUEL": "MISSING_STATION",
        "TARGET_NOT_FOUND": "NAV_STUCK",
        "TARGET_UNREACHABLE": "MISSING_TOOL",
        "NAV_STUCK": "TARGET_NOT_FOUND",
        "GUI_STALL": "NAV_STUCK",
    }
)


class Heights(NamedTuple):
    """From which height to which something is commonly found, in blocks."""

    lowest: float
    highest: float


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BeliefSettings(_Table):
    """How much is believed wrongly, and what is too far away to plan with."""

    misconceptions: float = Field(ge=0, le=1)
    farthest_effort: float = Field(gt=0)


class InducerSettings(_Table):
    """How often a failure is explained by another cause than its own."""

    wrong_diagnoses: float = Field(ge=0, le=1)


class Timeouts(_Table):
    """Seconds that a subgoal gets."""

    base: dict[str, float]
    per_item: dict[str, float]
    per_effort: float = Field(ge=0)
    most: float = Field(gt=0)
    again: float = Field(ge=1)

    def of(self, kind: str, count: int, effort: float, failures: int) -> float:
        """t = min(most, (base + per_item * count + per_effort * effort) * again ** failures), in whole s."""
        once = self.base[kind] + self.per_item[kind] * count + self.per_effort * effort
        return float(round(min(self.most, once * self.again**failures)))


class StandInSettings(_Table):
    """standin.toml."""

    beliefs: BeliefSettings
    inducer: InducerSettings
    timeouts: Timeouts

    @property
    def settings_hash(self) -> str:
        """Changes with any figure, and with nothing else."""
        return digest(self)

    def with_misconceptions(self, share: float) -> "StandInSettings":
        """The same but for the share of facts that are wrong; pydantic's `ValidationError` outside 0 to 1."""
        changed = self.model_dump()
        changed["beliefs"]["misconceptions"] = share
        return StandInSettings.model_validate(changed)


@cache
def standin_settings(path: Path = SETTINGS_FILE) -> StandInSettings:
    """The settings in `path`; pydantic's `ValidationError` for an unknown, missing or impossible one,
    `TomlFileError` for a file that is no TOML."""
    return StandInSettings.model_validate(read_toml(path))


@dataclass(frozen=True)
class Beliefs:
    """A copy of a domain's facts, and what is believed beside it."""

    facts: Domain
    without_fuel: frozenset[str] = frozenset()
    """products that are thought to smelt without fuel"""
    heights: Mapping[str, Heights] = field(default_factory=dict)
    """block -> where it is thought to be found"""
    wrong: tuple[str, ...] = ()
    """the misconceptions, sorted, as `recipe:<item or #tag>:<position>: the station is forgotten`"""

    @cached_property
    def content_hash(self) -> str:
        """The digest of everything believed: two engines with the same beliefs give the same answers."""
        facts = self.facts
        return digest(
            [
                [facts.name, facts.version, facts.smelting, facts.fuels, facts.drops, facts.harvest],
                [facts.tags, facts.tools, facts.stations, facts.entity_drops, facts.rare_drops],
                [facts.block_effort, facts.entity_effort, facts.smelting_station, facts.crafting_station],
                [
                    [recipe.item, recipe.count, recipe.ingredients, recipe.needs_table, *recipe.beside]
                    for item in sorted(facts.recipes)
                    for recipe in facts.recipes[item]
                ],
                [self.without_fuel, self.heights],
                [
                    [creature, offer.item, offer.count, offer.price]
                    for creature in sorted(facts.trades)
                    for offer in facts.trades[creature]
                ],
            ]
        )


def believe(
    domain: Domain, seed: int = 0, share: float = 0.0, heights: Mapping[str, Heights] | None = None
) -> Beliefs:
    """Beliefs about `domain` of which about `share` (0 to 1) is wrong; `heights` is what could be known.

    `ValueError` for a share outside 0 to 1. With share 0 the facts are `domain` itself.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"a share lies between 0 and 1, not {share}")
    known = MappingProxyType(dict(sorted((heights or {}).items())))
    if share == 0:
        return Beliefs(domain, heights=known)
    return _Memory(domain, seed, share, known).beliefs()


def within_reach(beliefs: Beliefs, farthest: float) -> Beliefs:
    """The same beliefs without sources of effort `farthest` and more, which nobody plans to go to."""
    facts = beliefs.facts
    near = replace(
        facts,
        block_effort={block: effort for block, effort in facts.block_effort.items() if effort < farthest},
        entity_effort={entity: effort for entity, effort in facts.entity_effort.items() if effort < farthest},
    )
    return replace(beliefs, facts=near)


def diagnosed(situation: RemedySituation, seed: int, share: float) -> RemedySituation:
    """`situation` as the stand-in understands it: with probability `share`, by the seed and the evidence,
    as the failure that this one is most easily taken for. What was missing is then not seen either."""
    mistaken_for = _TAKEN_FOR.get(situation.failure_type)
    evidence = [row.feedback_id for row in situation.cited]
    key = f"{seed}/diagnosis/{situation.kind}/{situation.target}/{situation.failure_type}/{evidence}"
    if mistaken_for is None or draw(key) >= share:
        return situation
    return situation.model_copy(update={"failure_type": mistaken_for, "missing": (), "short": {}})


class _Memory:
    """One pass over a domain's facts."""

    def __init__(self, domain: Domain, seed: int, share: float, heights: Mapping[str, Heights]) -> None:
        self._domain = domain
        self._seed = seed
        self._share = share
        self._heights = heights
        self._wrong: set[str] = set()

    def beliefs(self) -> Beliefs:
        domain = self._domain
        shapes = {item: [_shape(recipe) for recipe in known] for item, known in domain.recipes.items()}
        family = _families(domain, shapes)
        recipes = {
            item: tuple(
                self._recipe(recipe, f"recipe:{family[item]}:{place}") for place, recipe in enumerate(known)
            )
            for item, known in sorted(domain.recipes.items())
        }
        harvest = {
            block: tool
            for block, known in sorted(domain.harvest.items())
            if (tool := self._tool(block, known)) is not None
        }
        kin = _families(domain, domain.fuels)
        fuels = {
            fuel: lasts * 2 if self._note(f"fuel:{kin[fuel]}", "it lasts twice as long") else lasts
            for fuel, lasts in sorted(domain.fuels.items())
        }
        without_fuel = frozenset(
            product
            for product in sorted(set(domain.smelting.values()))
            if self._note(f"smelting:{product}", "it takes no fuel")
        )
        heights = {
            block: found
            for block, known in sorted(self._heights.items())
            if (found := self._height(block, known)) is not None
        }
        trades = {
            creature: tuple(
                self._trade(offer, f"trade:{creature}:{place}") for place, offer in enumerate(known)
            )
            for creature, known in sorted(domain.trades.items())
        }
        return Beliefs(
            facts=replace(domain, recipes=recipes, harvest=harvest, fuels=fuels, trades=trades),
            without_fuel=without_fuel,
            heights=MappingProxyType(heights),
            wrong=tuple(sorted(self._wrong)),
        )

    def _recipe(self, recipe: Recipe, fact: str) -> Recipe:
        if not self._is_wrong(fact) or not recipe.ingredients:
            return recipe
        ways = ["number", "station"] if recipe.needs_table else ["number"]
        if len(recipe.ingredients) > 1:
            ways.append("ingredient")
        way = ways[_pick(f"{self._seed}/{fact}/way", len(ways))]
        if way == "station":
            self._wrong.add(f"{fact}: the station is forgotten")
            return replace(recipe, needs_table=False)
        place = _pick(f"{self._seed}/{fact}/place", len(recipe.ingredients))
        name, number = recipe.ingredients[place]
        before, after = recipe.ingredients[:place], recipe.ingredients[place + 1 :]
        if way == "ingredient":
            self._wrong.add(f"{fact}: ingredient {place + 1} is forgotten")
            return replace(recipe, ingredients=(*before, *after))
        believed = self._one_off(fact, number)
        self._wrong.add(f"{fact}: {believed} of ingredient {place + 1} instead of {number}")
        return replace(recipe, ingredients=(*before, (name, believed), *after))

    def _trade(self, offer: Trade, fact: str) -> Trade:
        if not self._is_wrong(fact):
            return offer
        (item, number), *rest = offer.price
        believed = self._one_off(fact, number)
        self._wrong.add(f"{fact}: {believed} {item} instead of {number}")
        return replace(offer, price=((item, believed), *rest))

    def _one_off(self, fact: str, number: int) -> int:
        fewer = number > 1 and _pick(f"{self._seed}/{fact}/fewer", 2) == 0
        return number - 1 if fewer else number + 1

    def _tool(self, block: str, known: tuple[str, str]) -> tuple[str, str] | None:
        fact = f"tool:{block}"
        if not self._is_wrong(fact):
            return known
        tool, tier = known
        tiers = self._domain.tool_tiers
        at = tiers.index(tier)
        ways = [None, *(tiers[near] for near in (at - 1, at + 1) if 0 <= near < len(tiers))]
        believed = ways[_pick(f"{self._seed}/{fact}/way", len(ways))]
        self._wrong.add(f"{fact}: {believed or 'no'} {tool} instead of {tier}")
        return None if believed is None else (tool, believed)

    def _height(self, block: str, known: Heights) -> Heights | None:
        fact = f"height:{block}"
        if not self._is_wrong(fact):
            return known
        if _pick(f"{self._seed}/{fact}/way", 2) == 0:
            self._wrong.add(f"{fact}: it is forgotten")
            return None
        self._wrong.add(f"{fact}: too high")
        up = known.highest - known.lowest
        return Heights(known.lowest + up, known.highest + up)

    def _note(self, fact: str, misconception: str) -> bool:
        wrong = self._is_wrong(fact)
        if wrong:
            self._wrong.add(f"{fact}: {misconception}")
        return wrong

    def _is_wrong(self, fact: str) -> bool:
        return draw(f"{self._seed}/{fact}") < self._share


def _shape(recipe: Recipe) -> tuple[int, tuple[int, ...], bool]:
    return recipe.count, tuple(number for _, number in recipe.ingredients), recipe.needs_table


def _families(domain: Domain, known: Mapping[str, object]) -> dict[str, str]:
    """Item -> the name under which its fact is remembered: that of the largest tag all of whose members have
    the same fact, else its own. Who is mistaken about the planks of one wood is so about those of all."""
    family = {item: item for item in known}
    for tag in sorted(domain.tags, key=lambda each: (len(domain.tags[each]), each)):
        members = sorted(domain.expand(f"#{tag}"))
        if len(members) > 1 and all(each in known and known[each] == known[members[0]] for each in members):
            family |= dict.fromkeys(members, f"#{tag}")
    return family


def draw(key: str) -> float:
    """A number in [0, 1) that depends on `key` alone, on every machine."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8]) / 2**64


def _pick(key: str, choices: int) -> int:
    return int(draw(key) * choices)
