"""Makes items.json, blocks.json, entities.json and recipes.json from the npm package minecraft-data (MIT).

Run once for a new game version; the output is committed:

    npm pack minecraft-data && tar xzf minecraft-data-*.tgz
    python -m warehouse.domains.minecraft.generate package

The package lists one recipe per kind of wood, of wool and so on. Where the recipes for every member of a tag
of tags.toml differ in that member alone, one recipe that names the tag takes their place.
"""

import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from warehouse.domains.patterns import matching

GAME = "1.16.5"
HERE = Path(__file__).parent
# Met on servers that run a later game; an agent's traces name them.
LATER_ITEMS = ("copper_ingot", "raw_copper", "raw_gold", "raw_iron")
LATER_ORES = ("coal", "copper", "diamond", "emerald", "gold", "iron", "lapis", "redstone")
LATER_BLOCKS = ("copper_ore", *(f"deepslate_{ore}_ore" for ore in LATER_ORES))
# A recipe that fits the 2x2 grid of the inventory needs no table.
HAND_GRID = 2

Ingredients = frozenset[tuple[str, int]]


class Variant(NamedTuple):
    """One recipe of the package, its shape reduced to what goes in."""

    item: str
    yields: int
    needs_table: bool
    ingredients: Ingredients


def main(package: Path) -> None:
    """Writes the four files beside this script; `package` is the unpacked npm package."""
    data = package / "minecraft-data" / "data"
    paths = json.loads((data / "dataPaths.json").read_text(encoding="utf-8"))["pc"][GAME]

    def table(name: str) -> Any:
        return json.loads((data / paths[name] / f"{name}.json").read_text(encoding="utf-8"))

    items = {row["name"]: _label(row) for row in table("items") if row["name"] != "air"}
    items |= dict.fromkeys((*LATER_ITEMS, *LATER_BLOCKS), "")
    blocks = {row["name"] for row in table("blocks")} | set(LATER_BLOCKS)
    entities = {row["name"] for row in table("entities")}
    names = {row["id"]: row["name"] for row in table("items")}
    variants = {
        _variant(names, row) for rows in table("recipes").values() for row in rows if row["result"]["count"]
    }
    _write("items", [f"{_text(name)}: {_text(items[name])}" for name in sorted(items)], "{}")
    _write("blocks", map(_text, sorted(blocks)), "[]")
    _write("entities", map(_text, sorted(entities)), "[]")
    _write("recipes", map(_line, sorted(_merged(variants, _tags(items)), key=_order)), "[]")


def _label(row: dict[str, Any]) -> str:
    label: str = row["displayName"].lower()
    return "" if label == row["name"].replace("_", " ") else label


def _variant(names: dict[int, str], row: dict[str, Any]) -> Variant:
    grid = row.get("inShape")
    cells = [cell for line in grid for cell in line] if grid else row["ingredients"]
    used = [names[cell] for cell in cells if cell is not None and cell != -1]
    if grid:
        needs_table = len(grid) > HAND_GRID or max(map(len, grid)) > HAND_GRID
    else:
        needs_table = len(used) > HAND_GRID * HAND_GRID
    result = row["result"]
    return Variant(names[result["id"]], result["count"], needs_table, frozenset(Counter(used).items()))


def _tags(items: Iterable[str]) -> list[tuple[str, frozenset[str]]]:
    """The tags of tags.toml over items, the largest first, so that a recipe gets the widest that fits."""
    table = tomllib.loads((HERE / "tags.toml").read_text(encoding="utf-8"))
    # Blocks that are no items take no part in a recipe; here they would only be names that match nothing.
    known = set(items) | set(json.loads((HERE / "blocks.json").read_text(encoding="utf-8")))
    tags: dict[str, list[str]] = {}
    for tag, patterns in table.items():
        tags[tag] = matching(patterns, known, tags)
    sets = ((tag, frozenset(members)) for tag, members in tags.items())
    return sorted(sets, key=lambda row: (-len(row[1]), row[0]))


def _merged(variants: set[Variant], tags: list[tuple[str, frozenset[str]]]) -> set[Variant]:
    for tag, members in tags:
        groups: dict[tuple[Variant, int], set[Variant]] = {}
        for variant in variants:
            for name, number in variant.ingredients:
                if name in members:
                    rest = variant._replace(ingredients=variant.ingredients - {(name, number)})
                    groups.setdefault((rest, number), set()).add(variant)
        for (rest, number), group in groups.items():
            if len(members) > 1 and len(group) == len(members):
                merged = rest._replace(ingredients=rest.ingredients | {(f"#{tag}", number)})
                variants = (variants - group) | {merged}
    return variants


def _order(variant: Variant) -> tuple[str, int, list[tuple[str, int]]]:
    return variant.item, variant.yields, sorted(variant.ingredients)


def _line(variant: Variant) -> str:
    row = [variant.item, variant.yields, variant.needs_table, dict(sorted(variant.ingredients))]
    return json.dumps(row, separators=(",", ":"))


def _text(value: str) -> str:
    return json.dumps(value)


def _write(stem: str, lines: Iterable[str], brackets: str) -> None:
    body = ",\n".join(lines)
    (HERE / f"{stem}.json").write_text(f"{brackets[0]}\n{body}\n{brackets[1]}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
