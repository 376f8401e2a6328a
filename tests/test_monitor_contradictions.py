"""Words that the inventory contradicts."""

from pathlib import Path

import polars as pl
import pytest

from rollouts.ingest.protocol import merge
from rollouts.ingest.voyager import VoyagerImporter
from rollouts.monitor import monitor
from rollouts.trace import Trace
from tests.voyager_files import event, write_run
from warehouse.domains import Domain


def failure_type(root: Path, domain: Domain, task: str, said: str, held: dict[str, int]) -> str:
    run = write_run(
        root,
        {f"{task}_20240101_000000": [event("onChat", 20, said, held), event("observe", 40, None, held)]},
    )
    trace = Trace.of(merge(VoyagerImporter().read(run, "b0", domain)))
    return str(monitor(trace, domain).select(pl.col("failure_type").cast(pl.String)).item())


@pytest.mark.parametrize(
    ("task", "said", "held", "expected"),
    [
        ("Craft_a_furnace", "Not enough cobblestone.", {"cobblestone": 20}, "PREMATURE_STOP"),
        ("Craft_a_furnace", "Not enough cobblestone.", {"cobblestone": 7}, "MISSING_INGREDIENT"),
        ("Craft_a_furnace", "Not enough materials.", {"cobblestone": 8}, "PREMATURE_STOP"),
        ("Craft_a_furnace", "Not enough materials.", {"cobblestone": 7}, "MISSING_INGREDIENT"),
        ("Craft_1_wooden_shovel", "No sticks in inventory. Cannot craft.", {"stick": 4}, "PREMATURE_STOP"),
        ("Mine_1_stone", "No pickaxe found.", {"wooden_pickaxe": 1}, "PREMATURE_STOP"),
        ("Mine_1_stone", "No pickaxe found.", {"wooden_axe": 1}, "MISSING_TOOL"),
        ("Mine_1_iron_ore", "Need a stone pickaxe.", {"iron_pickaxe": 1}, "PREMATURE_STOP"),
        ("Mine_1_iron_ore", "Need a stone pickaxe.", {"wooden_pickaxe": 1}, "MISSING_TOOL"),
        ("Craft_a_furnace", "I need 5 more cobblestone", {"cobblestone": 6}, "MISSING_INGREDIENT"),
    ],
)
def test_what_is_held_outranks_what_is_said(
    tmp_path: Path, minecraft: Domain, task: str, said: str, held: dict[str, int], expected: str
) -> None:
    assert failure_type(tmp_path, minecraft, task, said, held) == expected
