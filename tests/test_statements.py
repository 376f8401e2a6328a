"""What an agent says in its own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollouts.ingest.statements import restates, statements


@pytest.mark.parametrize(
    ("text", "kind", "phrase", "count"),
    [
        ("Mined 2 iron ores.", "claim", "iron ores", 2),
        ("Wood log mined.", "claim", "wood log", None),
        ("3 torches crafted.", "claim", "torches", 3),
        ("I have successfully crafted three stone axes!", "claim", "stone axes", 3),
        ("Mined 3 more oak logs.", "claim", "oak logs", 3),
        ("Iron axe crafted successfully.", "claim", "iron axe", None),
        ("Mined all 3 oak logs.", "claim", "oak logs", 3),
        ("I now have 5 oak logs.", "have", "oak logs", 5),
        ("I have crafted a stick.", "claim", "stick", 1),
        ("Already have 2 birch logs in the inventory.", "have", "birch logs", 2),
        ("Not enough iron ingots to craft an iron axe.", "short", "iron ingots", None),
        ("I don't have enough planks.", "short", "planks", None),
        ("Need 2 more sticks.", "need", "sticks", 2),
        ("Could not find a furnace within range.", "absent", "furnace", 1),
        ("No pickaxe found. Mining oak log and crafting one...", "absent", "pickaxe", None),
        ("There are no cows nearby.", "absent", "cows", None),
        ("You don't have enough iron ingots.", "short", "iron ingots", None),
        ("Cannot craft stone pickaxe: not enough sticks", "short", "sticks", None),
        ("Stone pickaxe already in inventory.", "have", "stone pickaxe", None),
        ("The bot already has a stone pickaxe", "have", "stone pickaxe", 1),
        ("Stone pickaxe is already crafted", "claim", "stone pickaxe", None),
        ("Task completed: crafted a stone pickaxe.", "claim", "stone pickaxe", 1),
        ("Done crafting stone pickaxe.", "claim", "stone pickaxe", None),
        ("Finished mining 3 coal ores.", "claim", "coal ores", 3),
        ("Mined 3/3 coal ores.", "claim", "coal ores", 3),
        ("Ate 1 cooked beef.", "claim", "cooked beef", 1),
        ("Iron ore found. Mining...", "seen", "iron ore", None),
    ],
)
def test_a_sentence_is_read(text: str, kind: str, phrase: str, count: int | None) -> None:
    first = statements(text)[0]
    assert (first.kind, first.phrase, first.count) == (kind, phrase, count)


@pytest.mark.parametrize("text", ["", "Hello there", "Explore success.", "Mining...", "..."])
def test_other_sentences_state_nothing(text: str) -> None:
    assert statements(text) == []


def test_every_clause_is_read() -> None:
    found = statements("Mined 1 oak logs and crafted 1 oak planks.")
    assert [(s.verb, s.phrase, s.count) for s in found] == [
        ("mine", "oak logs", 1),
        ("craft", "oak planks", 1),
    ]


def test_an_unparsable_task_is_claimed_by_its_own_words() -> None:
    task = "Deposit useless items into the chest at (33, 67, -490)"
    assert restates("Useless items deposited.", task)
    assert not restates("Cobblestone deposited.", task)
    assert not restates("Useless items", task)


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    for statement in statements(text):
        assert statement.phrase
        assert statement.count is None or statement.count >= 0
