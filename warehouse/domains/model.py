"""The shape of a domain: items, tags, recipes, tools, drops, the action grammar and the state fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

FieldKind = Literal["number", "enum", "text", "flag"]


@dataclass(frozen=True)
class StateField:
    """A field that a trigger or a check may name.

    A name that ends in `.*` declares a family, one field per member of `members` ("item", "block",
    "station", "entity"): `inventory.*` over items gives `inventory.oak_log` and so on.
    """

    name: str
    kind: FieldKind
    unit: str
    doc: str
    values: tuple[str, ...] = ()
    members: Literal["", "item", "block", "station", "entity"] = ""


@dataclass(frozen=True)
class Recipe:
    """One way to craft: `count` of `item` from `ingredients` (item or `#tag` -> number)."""

    item: str
    count: int
    ingredients: tuple[tuple[str, int], ...]
    needs_table: bool


@dataclass(frozen=True)
class TargetReading:
    """What a noun phrase such as "iron ores" means here.

    `target` is the canonical name (an item, a block, an entity or a `#tag`); `accepts` are the items whose
    gain in the inventory shows that the target was got ("coal_ore" accepts "coal" and "coal_ore").
    """

    target: str
    accepts: frozenset[str]


@dataclass(frozen=True)
class Domain:
    """Everything that is known of one world's rules. All mappings are read-only."""

    name: str
    version: str
    items: frozenset[str]
    blocks: frozenset[str]
    entities: frozenset[str]
    stations: frozenset[str]
    foods: frozenset[str]
    tags: Mapping[str, frozenset[str]]
    recipes: Mapping[str, tuple[Recipe, ...]]
    smelting: Mapping[str, str]
    """input item -> output item"""
    smelting_station: str
    crafting_station: str
    fuels: Mapping[str, float]
    """fuel -> items smelted per unit"""
    drops: Mapping[str, tuple[str, ...]]
    """block -> items it can yield when broken with a fit tool, the usual one first"""
    harvest: Mapping[str, tuple[str, str]]
    """block -> (tool class, lowest tier) without which it yields nothing"""
    tool_classes: Mapping[str, frozenset[str]]
    tool_tiers: tuple[str, ...]
    """tiers, lowest first"""
    tools: Mapping[str, tuple[str, str]]
    """item -> (tool class, tier)"""
    entity_drops: Mapping[str, tuple[str, ...]]
    spawn_health: float
    spawn_hunger: float
    failure_types: tuple[str, ...]
    """in the order of the cascade; the first that the evidence supports is an attempt's failure_type"""
    kinds: Mapping[str, str]
    """action kind -> what its target is: "item", "block", "entity", "station", "place", "none" """
    kind_aliases: Mapping[str, str]
    """verb -> kind: kill -> combat, place -> use, ..."""
    check_types: Mapping[str, tuple[str, ...]]
    """check type -> its argument names"""
    state_fields: Mapping[str, StateField]

    def expand(self, name: str) -> frozenset[str]:
        """The items behind `name`: the members of a `#tag`, else the item itself, else nothing."""
        raise NotImplementedError

    def field(self, name: str) -> StateField | None:
        """The declaration of a state field, a family member included; None when nothing declares it."""
        raise NotImplementedError

    def read_target(self, phrase: str, kind: str) -> TargetReading | None:
        """What `phrase` ("2 more oak logs" less its number) means for an action of `kind`; None if unknown."""
        raise NotImplementedError

    def accepts(self, target: str, kind: str) -> frozenset[str]:
        """Items whose gain shows that `target` was got by an action of `kind`."""
        raise NotImplementedError

    def sources(self, item: str) -> tuple[tuple[str, str], ...]:
        """The ways to get `item`, cheapest first, as (kind, target)."""
        raise NotImplementedError

    def prerequisites(self, item: str) -> frozenset[str]:
        """Every item that some shortest way to `item` needs, transitively (tools and stations included)."""
        raise NotImplementedError

    def fit_tools(self, block: str) -> frozenset[str]:
        """Tools with which `block` yields its drop; empty when a bare hand does."""
        raise NotImplementedError
