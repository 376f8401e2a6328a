"""Reads a domain's folder of data files into a `Domain`. docs/domains.md says what each file holds."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from warehouse.domains.model import Domain, Material, Recipe, StateField, Trade
from warehouse.domains.patterns import matching, rewritten

Names = frozenset[str]
Drops = dict[str, tuple[str, ...]]
Rare = dict[str, frozenset[str]]
_BODY: Final = {"reach": "reach", "eyes": "eye_height"}
"""what `[body]` of domain.toml may say -> the field of `Domain` that holds it"""


def read_domain(name: str) -> Domain:
    """The domain in the folder `name` beside this module.

    Raises `FileNotFoundError`, which names the known domains, when there is no such folder, and `ValueError`
    with the file when a table names what the domain does not have.
    """
    home = Path(__file__).parent
    known = sorted(path.parent.name for path in home.glob("*/domain.toml"))
    if name not in known:
        raise FileNotFoundError(f"no domain {name!r}; known: {', '.join(known)}")
    return read_folder(home / name)


def read_folder(folder: Path) -> Domain:
    """The domain whose data files lie in `folder`; `ValueError` as for `read_domain`."""
    return _Reader(folder).read()


class _Reader:
    """One pass over one folder; holds what the later tables are checked against."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._labels: dict[str, str] = self._json("items")
        self._items = frozenset(self._labels)
        self._blocks: Names = frozenset(self._json("blocks"))
        self._entities: Names = frozenset(self._json("entities"))
        self._tags = self._read_tags()

    def read(self) -> Domain:
        rules = self._toml("domain")
        grammar = self._toml("grammar")
        words = self._toml("phrases")
        tiers = tuple(rules["tools"]["tiers"])
        tools = self._tools(tiers)
        drops, rare = self._drops()
        entity_drops, rare_entity_drops, entity_effort = self._creatures()
        food_points = {food: float(points) for food, points in self._toml("foods").items()}
        self._check("foods.toml", food_points, self._items)
        pack = self._toml("pack")
        stacks = {item: int(row["stack"]) for row in pack.get("smaller", ()) for item in row["items"]}
        self._check("pack.toml", stacks, self._items)
        stations = frozenset(rules["stations"]["all"])
        self._check("domain.toml", stations, self._blocks)
        in_place = frozenset(rules["stations"].get("in_place", ()))
        self._check("domain.toml", in_place, stations)
        body = rules.get("body", {})
        return Domain(
            name=rules["name"],
            version=rules["version"],
            items=self._items,
            blocks=self._blocks,
            entities=self._entities,
            stations=stations,
            foods=frozenset(food_points),
            tags=self._tags,
            recipes=self._recipes(),
            smelting=self._smelting(),
            smelting_station=rules["stations"]["smelting"],
            crafting_station=rules["stations"]["crafting"],
            fuels=self._weighted("fuels", "items", self._items),
            drops=drops,
            harvest=self._harvest(tiers),
            tool_classes={
                of: frozenset(item for item, (each, _) in tools.items() if each == of)
                for of in sorted({each for each, _ in tools.values()})
            },
            tool_tiers=tiers,
            tools=tools,
            entity_drops=entity_drops,
            spawn_health=float(rules["spawn"]["health"]),
            spawn_hunger=float(rules["spawn"]["hunger"]),
            failure_types=tuple(grammar["failure_types"]),
            kinds=grammar["kinds"],
            kind_aliases={verb: kind for kind, verbs in grammar["verbs"].items() for verb in verbs},
            check_types={check: tuple(names) for check, names in grammar["checks"].items()},
            state_fields=self._state_fields(
                kinds=tuple(grammar["kinds"]),
                failure_types=tuple(grammar["failure_types"]),
                depth_bands=tuple(rules.get("depth_bands", ())),
            ),
            labels={item: label for item, label in self._labels.items() if label},
            phrases={
                kind: phrases for kind, phrases in words.items() if kind not in ("fillers", "materials")
            },
            filler_words=frozenset(words.get("fillers", ())),
            materials=tuple(
                Material(
                    tuple(each["words"]),
                    frozenset(self._select("phrases.toml", each["items"], self._items)),
                )
                for each in words.get("materials", ())
            ),
            rare_drops=rare | rare_entity_drops,
            block_effort=self._weighted("wild", "blocks", self._blocks),
            entity_effort=entity_effort,
            food_points=food_points,
            trades=self._trades(),
            depth_bands={band: float(floor) for band, floor in rules.get("depth_bands", {}).items()},
            slots=int(pack.get("slots", 0)),
            stack=int(pack.get("stack", 64)),
            stacks=stacks,
            built_in_place=in_place,
            unyielding=bool(rules["tools"].get("unyielding", False)),
            **{name: float(body[key]) for key, name in _BODY.items() if key in body},
        )

    def _json(self, stem: str) -> Any:
        return json.loads((self._folder / f"{stem}.json").read_text(encoding="utf-8"))

    def _toml(self, stem: str) -> dict[str, Any]:
        """A table; empty where the domain has no such file."""
        path = self._folder / f"{stem}.toml"
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def _select(self, file: str, patterns: list[str], names: Names) -> list[str]:
        try:
            return matching(patterns, names, self._tags)
        except ValueError as error:
            raise ValueError(f"{self._folder.name}/{file}: {error}") from error

    def _check(
        self, file: str, used: Mapping[str, object] | frozenset[str] | tuple[str, ...], names: Names
    ) -> None:
        unknown = sorted(set(used) - names)
        if unknown:
            raise ValueError(f"{self._folder.name}/{file}: unknown names {unknown}")

    def _read_tags(self) -> dict[str, frozenset[str]]:
        """Tags in file order, so that a tag may build on those above it."""
        self._tags = {}
        for tag, patterns in self._toml("tags").items():
            self._tags[tag] = frozenset(self._select("tags.toml", patterns, self._items | self._blocks))
        return self._tags

    def _recipes(self) -> dict[str, tuple[Recipe, ...]]:
        recipes: dict[str, list[Recipe]] = {}
        for item, count, needs_table, ingredients, *more in self._json("recipes"):
            beside = tuple(more[0]) if more else ()
            self._check("recipes.json", beside, self._blocks)
            recipe = Recipe(item, count, tuple(ingredients.items()), needs_table, beside)
            recipes.setdefault(item, []).append(recipe)
        self._check("recipes.json", recipes, self._items)
        return {item: tuple(found) for item, found in recipes.items()}

    def _smelting(self) -> dict[str, str]:
        smelting: dict[str, str] = {}
        for product, inputs in self._toml("smelting").items():
            smelting |= dict.fromkeys(self._select("smelting.toml", inputs, self._items), product)
        self._check("smelting.toml", tuple(smelting.values()), self._items)
        return smelting

    def _weighted(self, stem: str, table: str, names: Names) -> dict[str, float]:
        """A table of number -> patterns, turned round: name -> number."""
        weights: dict[str, float] = {}
        for number, patterns in self._toml(stem).get(table, {}).items():
            weights |= dict.fromkeys(self._select(f"{stem}.toml", patterns, names), float(number))
        return dict(sorted(weights.items()))

    def _drops(self) -> tuple[Drops, Rare]:
        tables = self._toml("drops")
        usual = self._drop_table(tables.get("usual", {}))
        lucky = self._drop_table(tables.get("rare", {}))
        drops: Drops = {}
        rare: Rare = {}
        for block in sorted(self._blocks):
            itself = (block,) if block in self._items else ()
            dependable = usual.get(block, itself)
            drops[block] = tuple(dict.fromkeys(dependable + lucky.get(block, ())))
            if lucky.get(block):
                rare[block] = frozenset(lucky[block]) - frozenset(dependable)
        return drops, rare

    def _drop_table(self, table: Mapping[str, list[str]]) -> Drops:
        """block -> items; a row for one block outranks a row for a pattern, a later row an earlier one."""
        drops: Drops = {}
        for pattern, items in sorted(table.items(), key=lambda row: "*" not in row[0]):
            for block in self._select("drops.toml", [pattern], self._blocks):
                drops[block] = tuple(rewritten(pattern, item, block) for item in items)
                self._check("drops.toml", drops[block], self._items)
        return drops

    def _creatures(self) -> tuple[Drops, Rare, dict[str, float]]:
        table = self._toml("creatures")
        self._check("creatures.toml", table, self._entities)
        drops: Drops = {}
        rare: Rare = {}
        for entity, row in sorted(table.items()):
            lucky = tuple(row.get("rare", ()))
            drops[entity] = tuple(dict.fromkeys((*row.get("drops", ()), *lucky)))
            self._check("creatures.toml", drops[entity], self._items)
            if lucky:
                rare[entity] = frozenset(lucky)
        return drops, rare, {entity: float(row["effort"]) for entity, row in sorted(table.items())}

    def _trades(self) -> dict[str, tuple[Trade, ...]]:
        """creature -> offers."""
        table = self._toml("trades")
        self._check("trades.toml", table, self._entities)
        trades: dict[str, tuple[Trade, ...]] = {}
        for creature, rows in sorted(table.items()):
            for row in rows:
                self._check("trades.toml", {**row["takes"], **row["gives"]}, self._items)
                if len(row["gives"]) != 1 or not row["takes"]:
                    raise ValueError(
                        f"{self._folder.name}/trades.toml: an offer of {creature} takes something and gives "
                        "one sort of item"
                    )
                ((item, count),) = row["gives"].items()
                offer = Trade(item, count, tuple(row["takes"].items()))
                trades[creature] = (*trades.get(creature, ()), offer)
        return trades

    def _tools(self, tiers: tuple[str, ...]) -> dict[str, tuple[str, str]]:
        """item -> (class, tier): the regular names, where such an item exists, and the exceptions."""
        rules = self._toml("domain")["tools"]
        regular = {
            rules["name"].format(tier=tier, tool=tool): (tool, tier)
            for tool in rules["classes"]
            for tier in tiers
        }
        tools = {item: row for item, row in regular.items() if item in self._items}
        for item, (tool, tier) in rules.get("others", {}).items():
            tools[item] = (tool, tier)
        self._check("domain.toml", tools, self._items)
        return tools

    def _harvest(self, tiers: tuple[str, ...]) -> dict[str, tuple[str, str]]:
        """block -> (tool class, lowest tier); where several tiers list a block, the highest holds."""
        harvest: dict[str, tuple[str, str]] = {}
        for tool, by_tier in self._toml("harvest").items():
            for tier in sorted(by_tier, key=tiers.index):
                for block in self._select("harvest.toml", by_tier[tier], self._blocks):
                    harvest[block] = (tool, tier)
        return harvest

    def _state_fields(self, **lists: tuple[str, ...]) -> dict[str, StateField]:
        """The declared fields; `values` may name one of `lists` in place of a list of its own."""
        declared: dict[str, StateField] = {}
        for name, row in self._toml("state").items():
            values = row.get("values", ())
            declared[name] = StateField(
                name=name,
                kind=row["kind"],
                unit=row.get("unit", ""),
                doc=row["doc"],
                values=lists[values] if isinstance(values, str) else tuple(values),
                members=row.get("members", ""),
            )
        return declared
