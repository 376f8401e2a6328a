"""The shape of a domain: items, tags, recipes, tools, drops, the action grammar and the state fields."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from dataclasses import field as declare
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

from warehouse.domains.reading import TargetReader
from warehouse.domains.routes import Routes

FieldKind = Literal["number", "enum", "text", "flag"]

OBTAIN = "obtain"
"""The verb whose kind is that of its target's cheapest source; `read_target` and `accepts` take it too."""


@dataclass(frozen=True)
class StateField:
    """A field that a trigger or a check may name.

    A name that ends in `.*` declares a family, one field per member of `members`: `inventory.*` over items
    gives `inventory.<item>` and so on. A "thing" is a block, an entity or a station. Families over items and
    things also have a field per tag (`inventory.#<tag>`: the members' sum, or any of them).
    """

    name: str
    kind: FieldKind
    unit: str
    doc: str
    values: tuple[str, ...] = ()
    members: Literal["", "item", "block", "station", "entity", "thing"] = ""


@dataclass(frozen=True)
class Recipe:
    """One way to craft: `count` of `item` from `ingredients` (item or `#tag` -> number)."""

    item: str
    count: int
    ingredients: tuple[tuple[str, int], ...]
    needs_table: bool
    beside: tuple[str, ...] = ()
    """stations that have to be in reach besides"""


@dataclass(frozen=True)
class Trade:
    """One offer of a creature: `count` of `item` for `price` (item -> number)."""

    item: str
    count: int
    price: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Material:
    """What adjectives such as "wooden" mean: any of `words` says "made of one of `items`"."""

    words: tuple[str, ...]
    items: frozenset[str]


@dataclass(frozen=True)
class TargetReading:
    """What a noun phrase such as "iron ores" means here.

    `target` is the canonical name (an item, a block, an entity or a `#tag`); `accepts` are the items whose
    gain in the inventory shows that the target was got (an ore accepts its mineral and itself).
    """

    target: str
    accepts: frozenset[str]


@dataclass(frozen=True, eq=False)
class Domain:
    """Everything that is known of one world's rules. All mappings are read-only.

    A domain compares and hashes by identity, so that it can key a cache. `dataclasses.replace` gives a
    variant (one recipe changed, say) with indices of its own, and a domain may be pickled.
    """

    name: str
    version: str
    items: frozenset[str]
    blocks: frozenset[str]
    entities: frozenset[str]
    stations: frozenset[str]
    foods: frozenset[str]
    tags: Mapping[str, frozenset[str]]
    """tag, without its `#` -> the items and blocks it names"""
    recipes: Mapping[str, tuple[Recipe, ...]]
    smelting: Mapping[str, str]
    """input item -> output item"""
    smelting_station: str
    crafting_station: str
    fuels: Mapping[str, float]
    """fuel -> items smelted per unit"""
    drops: Mapping[str, tuple[str, ...]]
    """block -> items it can yield when broken with a fit tool, the usual one first; every block has a row"""
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
    """action kind -> what its target is: "item", "block", "entity", "station", "thing", "place", "none" """
    kind_aliases: Mapping[str, str]
    """verb -> kind (kill -> combat, place -> use, ...); "obtain" where the target decides"""
    check_types: Mapping[str, tuple[str, ...]]
    """check type -> its argument names"""
    state_fields: Mapping[str, StateField]
    labels: Mapping[str, str] = declare(default_factory=dict)
    """item -> the name players see, lower case, where it is not the item's name with blanks"""
    phrases: Mapping[str, Mapping[str, str]] = declare(default_factory=dict)
    """kind or "any" -> everyday phrase -> item, block, entity or `#tag`"""
    filler_words: frozenset[str] = frozenset()
    """adjectives that a phrase may carry and that do not change its target"""
    materials: tuple[Material, ...] = ()
    rare_drops: Mapping[str, frozenset[str]] = declare(default_factory=dict)
    """block or entity -> those of its drops that are a matter of luck or of the game's version"""
    block_effort: Mapping[str, float] = declare(default_factory=dict)
    """block that the world grows by itself -> relative effort to find and reach one (1 = underfoot)"""
    entity_effort: Mapping[str, float] = declare(default_factory=dict)
    """entity -> relative effort to find and defeat one, on the scale of `block_effort`"""
    food_points: Mapping[str, float] = declare(default_factory=dict)
    """food -> hunger points that eating one restores"""
    trades: Mapping[str, tuple[Trade, ...]] = declare(default_factory=dict)
    """creature -> its offers, in the order in which it makes them"""
    depth_bands: Mapping[str, float] = declare(default_factory=dict)
    """name of a band of heights -> its lowest y, in blocks; the lowest band has no floor"""
    slots: int = 0
    """how many stacks an agent carries; 0 where the domain does not say"""
    stack: int = 64
    """how many of an item share a slot, where `stacks` has no row"""
    stacks: Mapping[str, int] = declare(default_factory=dict)
    """item -> how many of it share a slot"""
    built_in_place: frozenset[str] = frozenset()
    """stations that stand where they are made, and that nobody carries"""
    unyielding: bool = False
    """whether a block that needs a tool does not break without one; else it breaks and yields nothing"""
    reach: float = 4.5
    """blocks from the eyes: how far an agent can act"""
    eye_height: float = 1.62
    """blocks from an agent's position up to its eyes"""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Mapping) and not isinstance(value, MappingProxyType):
                object.__setattr__(self, each.name, MappingProxyType(dict(value)))

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy cannot be pickled; the constructor puts the proxies back.
        values = (getattr(self, each.name) for each in fields(self))
        return type(self), tuple(dict(v) if isinstance(v, Mapping) else v for v in values)

    @cached_property
    def _reader(self) -> TargetReader:
        return TargetReader(self, self._routes)

    @cached_property
    def _routes(self) -> Routes:
        return Routes(self)

    def expand(self, name: str) -> frozenset[str]:
        """The items behind `name`: the members of a `#tag`, else the item itself, else nothing."""
        if name.startswith("#"):
            return self.tags.get(name[1:], frozenset()) & self.items
        return frozenset({name}) if name in self.items else frozenset()

    def field(self, name: str) -> StateField | None:
        """The declaration of a state field, a family member included; None when nothing declares it.

        For a family member it is the family's own declaration, whose name ends in `.*`.
        """
        if name.endswith(".*"):
            return None
        if name in self.state_fields:
            return self.state_fields[name]
        stem, dot, member = name.partition(".")
        family = self.state_fields.get(f"{stem}.*") if dot else None
        if family is None or not self._is_member(member, family.members):
            return None
        return family

    def _is_member(self, name: str, of: str) -> bool:
        if name.startswith("#"):
            return of in ("item", "thing") and name[1:] in self.tags
        universe = {
            "item": (self.items,),
            "block": (self.blocks,),
            "station": (self.stations,),
            "entity": (self.entities,),
            "thing": (self.blocks, self.entities, self.stations),
        }[of]
        return any(name in names for names in universe)

    def kind_of(self, verb: str, phrase: str = "") -> str | None:
        """The action kind that `verb` names; `phrase`, its object, decides where the verb alone does not.

        None when the verb is unknown, or is an "obtain" whose object is unknown or has no source.
        """
        word = verb.strip().lower()
        kind = word if word in self.kinds else self.kind_aliases.get(word)
        if kind != OBTAIN:
            return kind
        reading = self.read_target(phrase, OBTAIN)
        return self.kind_of_obtain(reading.target) if reading else None

    def kind_of_obtain(self, target: str) -> str | None:
        """The kind of the cheapest source of `target` (item, block, entity or `#tag`); None without one."""
        return self._routes.kind_of_obtain(target)

    def read_target(self, phrase: str, kind: str) -> TargetReading | None:
        """What `phrase` ("2 more oak logs", with or without its number) means for an action of `kind`.

        None if it is unknown, or means nothing for this kind (smelting what no furnace takes). For smelting
        the target is the product, whichever side of the furnace the phrase names. `kind` may be a verb that
        `kind_aliases` lists.
        """
        found = self._reader.read(phrase, kind)
        return TargetReading(found, self.accepts(found, kind)) if found else None

    def accepts(self, target: str, kind: str) -> frozenset[str]:
        """Items whose gain shows that `target` was got by an action of `kind`.

        Empty for kinds that gain nothing (use, move, wait), for creatures that leave nothing, and for
        unknown kinds and targets.
        """
        return self._routes.accepts(target, kind)

    def sources(self, item: str) -> tuple[tuple[str, str], ...]:
        """The ways to get `item` (or `#tag`), cheapest first, as (kind, target)."""
        return self._routes.sources(item)

    def prerequisites(self, item: str) -> frozenset[str]:
        """Every item that some shortest way to `item` (or `#tag`) needs, transitively.

        Tools, stations and fuel are included. Where several ways, or several members of a tag, are equally
        short, the items of each are included. Empty for an item that has no source.
        """
        return self._routes.prerequisites(item)

    def stations_of(self, recipe: Recipe) -> tuple[str, ...]:
        """The stations that have to be in reach, all at once, to craft by `recipe`."""
        return ((self.crafting_station,) if recipe.needs_table else ()) + recipe.beside

    def brings_into_reach(self, kind: str, target: str | None) -> bool:
        """Whether an action is one that ends with a station in reach: putting it down, going to it, or making
        one that stands where it is made."""
        return target in self.stations and (
            kind in ("use", "move") or (kind == "craft" and target in self.built_in_place)
        )

    def narrowest_tag(self, items: frozenset[str]) -> str | None:
        """The item itself where there is one, else the smallest `#tag` that covers `items`; None without."""
        if len(items) == 1:
            return min(items)
        tags = [tag for tag, members in self.tags.items() if items <= members]
        return f"#{min(tags, key=lambda each: (len(self.tags[each]), each))}" if tags and items else None

    def fit_tools(self, block: str) -> frozenset[str]:
        """Tools with which `block` yields its drop; empty when a bare hand does."""
        if block not in self.harvest:
            return frozenset()
        tool_class, lowest = self.harvest[block]
        floor = self.tool_tiers.index(lowest)
        return frozenset(
            tool
            for tool in self.tool_classes[tool_class]
            if self.tool_tiers.index(self.tools[tool][1]) >= floor
        )

    def depth_band(self, y: float) -> str:
        """The name of the band that height `y` (blocks) lies in; "" for a domain without bands."""
        by_floor = sorted(self.depth_bands.items(), key=lambda band: band[1], reverse=True)
        for name, floor in by_floor:
            if y >= floor:
                return name
        return by_floor[-1][0] if by_floor else ""
