"""The domain's blocks, items and creatures as numbers and tables: what the kernels and the rules look things
up in. Built once for a domain; read-only."""

import csv
from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from functools import cache, cached_property, wraps
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from rollouts.worlds.techtree.settings import parameters
from rollouts.worlds.techtree.state import CREATURE, LAVA, OPAQUE, RULES, SOLID, TARGET, WATER, Records
from warehouse.domains import Domain
from warehouse.domains.patterns import rewritten

AIR: Final = "air"
WALL: Final = "barrier"
UNKNOWN: Final = "unknown"
# Breaking in one tick needs no more than 1; hardness 0 is anything above.
AT_ONCE: Final = 1e6


Name = TypeVar("Name", str, str | None)
Value = TypeVar("Value")


class Drop(NamedTuple):
    """One row of what a block or creature leaves: `luck` in [0, 1], least and most of it."""

    item: str
    luck: float
    least: int
    most: int


class Strike(NamedTuple):
    """A blow: half-hearts, and ticks until the next at full strength."""

    damage: float
    recharge: int


class Breaking(NamedTuple):
    """What comes of a block that breaks under what is held: what may fall, whether that is for want of a tool
    nothing, how much the tool wears, and whether leaves hang on the block."""

    drops: tuple[Drop, ...]
    lacks_tool: bool
    wear: int
    holds_leaves: bool


class Sizes(NamedTuple):
    """How far is seen, in blocks: to each side and up and down of single blocks, all around of entities."""

    side: int
    tall: int
    entities: float


def _remembered(method: Callable[["Catalogue", Name], Value]) -> Callable[["Catalogue", Name], Value]:
    """A method whose answers are kept, in its catalogue: what it tells of a name never changes."""

    kept = f"_{method.__name__}_known"

    @wraps(method)
    def look_up(self: "Catalogue", name: Name) -> Value:
        known: dict[object, Value] | None = self.__dict__.get(kept)
        if known is None:
            known = self.__dict__[kept] = {}
        if name not in known:
            known[name] = method(self, name)
        return known[name]

    return look_up


@cache
def catalogue(domain: Domain) -> "Catalogue":
    """The domain's catalogue; `ValueError` where the parameters name what the domain does not have."""
    return Catalogue(domain)


class Catalogue:
    """Numbers of names and back, and what holds of each."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.parameters: Mapping[str, Any] = parameters()
        self.palette = (*sorted(domain.blocks), UNKNOWN)
        self.block = {name: number for number, name in enumerate(self.palette)}
        self.items = tuple(sorted(domain.items))
        self.item = {name: number for number, name in enumerate(self.items)}
        self.creatures = tuple(self.parameters["creatures"])
        self._blocks = _table("blocks")
        self._things = _table("items")
        self.air, self.wall, self.unknown = (self.block[name] for name in (AIR, WALL, UNKNOWN))
        self._speeds: dict[str, npt.NDArray[np.float64]] = {}
        self._breakings: dict[tuple[str | None, str], Breaking] = {}
        view = self.parameters["view"]
        self.view = Sizes(view["radius"], view["radius_y"], float(view["entities"]))
        unknown = sorted(set(self.creatures) - domain.entities)
        if unknown:
            raise ValueError(f"techtree.toml: the domain has no {', '.join(unknown)}")

    # Blocks ------------------------------------------------------------------------------------------------

    @cached_property
    def traits(self) -> npt.NDArray[np.uint8]:
        """Traits by block number (state.py says which bits)."""
        traits = np.zeros(len(self.palette), np.uint8)
        fluids = {"water": WATER, "lava": LAVA}
        for number, name in enumerate(self.palette):
            row = self._blocks.get(name)
            if name.endswith(AIR) or name in fluids:
                traits[number] = fluids.get(name, 0)
            elif row is None:
                # A block of a later game: whole and opaque.
                traits[number] = SOLID | OPAQUE | TARGET
            else:
                traits[number] = TARGET | SOLID * int(row["solid"]) | OPAQUE * int(row["opaque"])
        return traits

    def speed(self, held: str | None) -> npt.NDArray[np.float64]:
        """Share of each block that a tick of breaking takes off with `held`, by block number; 0: never."""
        key = held if held is not None and held in self.domain.tools else ""
        if key not in self._speeds:
            self._speeds[key] = self._speed_table(key)
        return self._speeds[key]

    def _speed_table(self, tool: str) -> npt.NDArray[np.float64]:
        of_class, tier = self.domain.tools.get(tool, ("", ""))
        fast = self.parameters["speed_of_class"].get(of_class) or self.parameters["speeds"].get(tier, 1)
        besides = self.parameters["speed_on"].get(of_class, {})
        table = np.zeros(len(self.palette))
        for number, name in enumerate(self.palette):
            row = self._blocks.get(name)
            hardness = self.hardness(name)
            if hardness < 0:
                continue
            pace = fast if row and of_class and row["tool"] == of_class else 1
            pace = max(pace, *(speed for pattern, speed in besides.items() if fnmatch(name, pattern)), 1)
            divisor = 30 if self.harvests(tool, name) else 100
            table[number] = pace / hardness / divisor if hardness else AT_ONCE
        return table

    @_remembered
    def hardness(self, block: str) -> float:
        """A block's hardness; negative where nothing breaks it."""
        row = self._blocks.get(block)
        return float(row["hardness"]) if row else -1.0

    def harvests(self, held: str | None, block: str) -> bool:
        """Whether `block` yields its drop when it is broken with `held`."""
        fit = self._fit(block)
        return not fit or held in fit

    @_remembered
    def _fit(self, block: str) -> frozenset[str]:
        return self.domain.fit_tools(block) if block in self.domain.blocks else frozenset()

    def breaking(self, held: str | None, block: str) -> Breaking:
        """What comes of it when `block` breaks under what is held."""
        key = (held, block)
        known = self._breakings.get(key)
        if known is None:
            known = self._breakings[key] = self._breaking(held, block)
        return known

    def _breaking(self, held: str | None, block: str) -> Breaking:
        yields, wear, wears = self.harvests(held, block), 0, self.parameters["wear"]
        if held is not None and held in self.domain.tools and self.hardness(block) > 0:
            wear = wears["sword_block" if self.domain.tools[held][0] == "sword" else "tool_block"]
        return Breaking(
            drops=self.block_drops(block) if yields else (),
            lacks_tool=not yields and bool(self.domain.drops.get(block)),
            wear=wear,
            holds_leaves=block in self.named(self.parameters["decay"]["holders"]),
        )

    @cached_property
    def unsteady(self) -> frozenset[str]:
        """The blocks that do not stay where they are when the one below them goes."""
        return frozenset((*self.parameters["rooted"]["blocks"], *self.parameters["falling"]["blocks"]))

    @_remembered
    def block_drops(self, block: str) -> tuple[Drop, ...]:
        """What a block leaves. The domain lists one usual drop per version of the game: the first is ours."""
        rare = self.domain.rare_drops.get(block, frozenset())
        usual = [item for item in self.domain.drops.get(block, ()) if item not in rare][:1]
        return self._drops(block, usual, sorted(rare))

    @_remembered
    def creature_drops(self, creature: str) -> tuple[Drop, ...]:
        """What a creature leaves."""
        rare = self.domain.rare_drops.get(creature, frozenset())
        usual = [item for item in self.domain.entity_drops.get(creature, ()) if item not in rare]
        return self._drops(creature, usual, sorted(rare))

    def _drops(self, source: str, usual: list[str], rare: list[str]) -> tuple[Drop, ...]:
        amounts = self.parameters["amounts"].get(source, {})
        luck = self._luck(source)
        sure = [Drop(item, 1.0, *amounts.get(item, (1, 1))) for item in usual]
        return (*sure, *(Drop(item, luck[item], 1, 1) for item in rare if item in luck))

    def _luck(self, source: str) -> dict[str, float]:
        for pattern, rows in self.parameters["luck"].items():
            if fnmatch(source, pattern):
                return {rewritten(pattern, item, source): float(luck) for item, luck in rows.items()}
        return {}

    # Items -------------------------------------------------------------------------------------------------

    @_remembered
    def stack(self, item: str) -> int:
        """How many of an item share a slot."""
        row = self._things.get(item)
        return int(row["stack"]) if row else int(self.parameters["rules"]["stack"])

    @_remembered
    def durability(self, item: str) -> int:
        """How many uses an item lasts; 0 where it does not wear."""
        row = self._things.get(item)
        return int(row["durability"]) if row else 0

    def saturation(self, food: str) -> float:
        """Saturation per hunger point that a food restores."""
        row = self._things.get(food)
        return float(row["saturation"]) if row else 0.0

    @_remembered
    def strike(self, held: str | None) -> Strike:
        """What a blow with `held` does."""
        of_class, tier = self.domain.tools.get(held or "", ("none", ""))
        table = self.parameters["strike"]
        row = table["class"].get(of_class, table["class"]["none"])
        return Strike(row["damage"] + table["tier"].get(tier, 0) * (of_class != "none"), row["recharge"])

    def placed_as(self, item: str) -> str | None:
        """The block that an item is put down as; None where it cannot be."""
        name: str = self.parameters["places"].get(item, item)
        return name if name in self._blocks and name in self.domain.blocks else None

    def named(self, name: str) -> frozenset[str]:
        """The items and blocks behind a name or `#tag` of the parameters."""
        return self.domain.tags[name[1:]] if name.startswith("#") else frozenset({name})

    @_remembered
    def among(self, name: str) -> npt.NDArray[np.bool_]:
        """Which blocks are behind a name or `#tag` of the parameters, by block number."""
        return np.isin(self.palette, sorted(self.named(name)))

    # Records -----------------------------------------------------------------------------------------------

    @cached_property
    def rules(self) -> Records:
        """[rules] as one record."""
        table = self.parameters["rules"]
        names = RULES.names or ()
        if set(table) != set(names):
            raise ValueError(f"techtree.toml [rules]: {sorted(set(table) ^ set(names))}")
        rules = np.zeros(1, RULES)
        for name in names:
            rules[name] = table[name]
        return rules

    @cached_property
    def creature_table(self) -> Records:
        """[creatures] by number."""
        common = self.parameters["creature_rules"]
        table = np.zeros(len(self.creatures), CREATURE)
        for number, name in enumerate(self.creatures):
            row = self.parameters["creatures"][name]
            values = (row["half"], row["height"], row["walk"], row["flee"], row.get("leash", common["leash"]))
            table[number] = (*values, *common["idle"], *common["walk"], common["flee_ticks"])
        return table


def _table(stem: str) -> dict[str, dict[str, str]]:
    with Path(__file__).with_name(f"{stem}.csv").open(encoding="utf-8", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}
