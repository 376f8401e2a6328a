"""Columns of stretches against their ticks written out one by one."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollouts.tick_rows import COLUMNS, NUMBERS, TEXTS, Sheet, Stretch, TickRows, coded, numbers_of

SIZE = 12


class Drawn(NamedTuple):
    """How long a stretch is, how many ticks of its sheet are left out before it, its texts and the last."""

    length: int
    gap: int
    texts: tuple[str, str, str]
    last: tuple[str, str, str]


def texts() -> st.SearchStrategy[tuple[str, str, str]]:
    word = st.sampled_from(["none", "stone_pickaxe", "noop"])
    return st.tuples(word, word, word)


def noted(drawn: list[Drawn]) -> list[Stretch]:
    """The stretches, on sheets of twelve ticks, a new one where the last is full."""
    sheets: list[Sheet] = []
    stretches, at = [], SIZE
    for each in drawn:
        at += each.gap
        if at + each.length > SIZE:
            first = 100 * len(sheets)
            sheets.append(np.arange(first, first + 8 * SIZE, dtype=np.float32).reshape(8, SIZE) - 50.0)
            at = 0
        stretches.append(Stretch(sheets[-1], at, at + each.length, each.texts, each.last))
        at += each.length
    return stretches


@given(st.lists(st.builds(Drawn, st.integers(1, 6), st.integers(0, 2), texts(), texts()), min_size=1))
def test_columns_are_the_ticks_one_by_one(drawn: list[Drawn]) -> None:
    stretches = noted(drawn)
    rows = TickRows(stretches)
    assert rows.height == sum(each.length for each in drawn)
    assert tuple(rows) == COLUMNS
    for number, name in enumerate(NUMBERS):
        one_by_one = [each.sheet[number, tick] for each in stretches for tick in range(each.first, each.end)]
        assert numbers_of(stretches)[number].tolist() == one_by_one
        assert rows[name].tolist() == (one_by_one if name != "alive" else [each > 0 for each in one_by_one])
    for place, name in enumerate(TEXTS):
        spoken = [
            (each.last if tick == each.length - 1 else each.texts)[place]
            for each in drawn
            for tick in range(each.length)
        ]
        words, codes = coded(stretches, name)
        assert [words[code] for code in codes] == rows[name].tolist() == spoken
        assert len(set(words)) == len(words)


def test_there_are_no_other_columns() -> None:
    rows = TickRows(noted([Drawn(1, 0, ("none",) * 3, ("none",) * 3)]))
    assert "tick" not in rows
    with pytest.raises(KeyError):
        rows["tick"]
