"""Tasks in words."""

import pytest

from rollouts.ingest.task_text import read_task, tidy
from warehouse.domains import Domain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mine 2 more oak logs", ("mine", "oak_log", 2)),
        ("Craft a wooden chest", ("craft", "chest", 1)),
        ("Obtain an oak log", ("mine", "oak_log", 1)),
        ("Mine eight cobblestone blocks for a furnace", ("mine", "cobblestone", 8)),
        ("Craft 3 torches", ("craft", "torch", 3)),
        ("Smelt 12 raw copper", ("smelt", "copper_ingot", 12)),
        ("Mine 25 wood logs.", ("mine", "#logs", 25)),
        ("Mine 1 oak tree", ("mine", "oak_log", 1)),
        ("Obtain 2 wool", ("combat", "sheep", 2)),
        ("Obtain 1 leather", ("combat", "leather", 1)),
        ("Mine 0 oak logs", ("mine", None, None)),
        ("Mine 99999999999 oak logs", ("mine", None, None)),
        ("Mine\t1\noak log", ("mine", "oak_log", 1)),
        ("Craft a vibranium pickaxe", ("craft", None, None)),
        ("", (None, None, None)),
    ],
)
def test_read_task(minecraft: Domain, text: str, expected: tuple[str | None, str | None, int | None]) -> None:
    reading = read_task(text, minecraft)
    assert (reading.kind, reading.target, reading.needed) == expected


def test_tidy() -> None:
    assert tidy("\x1bKill_1_cow.") == "Kill 1 cow"
    assert tidy("\x1b[2J\x1b[31mMine_1_log\x1b[0m") == "Mine 1 log"
