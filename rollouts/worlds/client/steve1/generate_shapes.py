"""Makes shapes.json, where ingredients lie on the crafting grid, from the npm package minecraft-data (MIT).

Run once for a new game version; the output is committed:

    npm pack minecraft-data && tar xzf minecraft-data-*.tgz
    python -m rollouts.worlds.client.steve1.generate_shapes package

The domain says what goes into a recipe, and this which cell it goes to: a row for each of the domain's
recipes, [item, ingredients, grid], the grid's letters being A for the first of the ingredients, B for the
second. A recipe without a shape has no grid.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

from warehouse.domains import Domain, load_domain
from warehouse.domains.model import Recipe

GAME: Final = "1.16.5"
LETTERS: Final = "ABCDEFGHI"


def main(package: Path) -> None:
    """Writes the file beside this script; `package` is the unpacked npm package."""
    data = package / "minecraft-data" / "data"
    paths = json.loads((data / "dataPaths.json").read_text(encoding="utf-8"))["pc"][GAME]

    def table(name: str) -> Any:
        return json.loads((data / paths[name] / f"{name}.json").read_text(encoding="utf-8"))

    names = {row["id"]: row["name"] for row in table("items")}
    variants: dict[str, list[dict[str, Any]]] = {}
    for rows in table("recipes").values():
        for row in rows:
            variants.setdefault(names[row["result"]["id"]], []).append(row)
    domain = load_domain("minecraft")
    lines = []
    for item in sorted(domain.recipes):
        for recipe in domain.recipes[item]:
            grids = [_grid(row, recipe, names, domain) for row in variants.get(item, ())]
            found = next((grid for grid in grids if grid is not None), None)
            if found is not None:
                lines.append(json.dumps([item, [name for name, _ in recipe.ingredients], found]))
    path = Path(__file__).with_name("shapes.json")
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def _grid(row: dict[str, Any], recipe: Recipe, names: dict[int, str], domain: Domain) -> list[str] | None:
    """The row's grid in the letters of a recipe, [] without a shape; None where it is another recipe."""
    shape = row.get("inShape") or [row["ingredients"]]
    letters = [[_letter(cell, recipe, names, domain) for cell in line] for line in shape]
    counted = Counter(letter for line in letters for letter in line if letter != " ")
    wanted = {LETTERS[at]: count for at, (_, count) in enumerate(recipe.ingredients)}
    if counted != wanted:
        return None
    return ["".join(line) for line in letters] if "inShape" in row else []


def _letter(cell: Any, recipe: Recipe, names: dict[int, str], domain: Domain) -> str:
    number = cell["id"] if isinstance(cell, dict) else cell
    if number in (None, -1):
        return " "
    for at, (name, _) in enumerate(recipe.ingredients):
        if names[number] in domain.expand(name):
            return LETTERS[at]
    return "?"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
