"""Makes blocks.csv and items.csv from the npm package minecraft-data (MIT). Run once for a new game version;
the output is committed:

    npm pack minecraft-data && tar xzf minecraft-data-*.tgz
    python -m rollouts.worlds.techtree.generate_tables package

blocks.csv: name, hardness (-1: nothing breaks it), tool (the class that is faster on it), solid (0/1, fills
its cell for a body), opaque (0/1, hides what is behind it).
items.csv: name, stack (how many share a slot), durability (uses; 0: does not wear), saturation (per hunger
point eaten; 0: no food).
"""

import csv
import json
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

GAME: Final = "1.16.5"
HERE: Final = Path(__file__).parent
Row = tuple[object, ...]

# The package names what a block is made of; these are the tools that the game makes faster on it.
TOOLS: Final = {"rock": "pickaxe", "wood": "axe", "dirt": "shovel", "wool": "shears", "web": "sword"}
# What the package calls "plant", the game splits.
PLANTS: Final = (("*_leaves", "hoe"), ("*wart_block", "hoe"), ("*pumpkin", "axe"), ("melon", "axe"))


def main(package: Path) -> None:
    """Writes the two files beside this script; `package` is the unpacked npm package."""
    data = package / "minecraft-data" / "data"
    paths = json.loads((data / "dataPaths.json").read_text(encoding="utf-8"))["pc"][GAME]

    def table(name: str) -> Any:
        return json.loads((data / paths[name] / f"{name}.json").read_text(encoding="utf-8"))

    foods = {row["name"]: 2 * row["saturationRatio"] for row in table("foods")}
    _write(
        "blocks", ("name", "hardness", "tool", "solid", "opaque"), [_block(row) for row in table("blocks")]
    )
    _write(
        "items",
        ("name", "stack", "durability", "saturation"),
        [
            (row["name"], row["stackSize"], row.get("maxDurability", 0), round(foods.get(row["name"], 0), 2))
            for row in table("items")
        ],
    )


def _block(row: dict[str, Any]) -> Row:
    name, material = row["name"], row.get("material")
    tool = TOOLS.get(material or "", "")
    if material == "plant":
        tool = next((tool for pattern, tool in PLANTS if fnmatch(name, pattern)), "")
    hardness = row["hardness"] if row["diggable"] and row["hardness"] is not None else -1
    solid = row["boundingBox"] == "block"
    return name, hardness, tool, int(solid), int(solid and not row["transparent"])


def _write(stem: str, heading: tuple[str, ...], rows: list[Row]) -> None:
    in_order = sorted(rows, key=lambda row: str(row[0]))
    with (HERE / f"{stem}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heading)
        writer.writerows(in_order)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
