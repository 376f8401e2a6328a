"""Gains shown by an inventory."""

from hypothesis import given
from hypothesis import strategies as st

from rollouts.ingest.gains import Observed, amounts, changes, largest_gain

counts = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(0, 9))
steps = st.lists(st.tuples(st.integers(0, 3), counts), max_size=8)


def observed(rows: list[tuple[int, dict[str, int]]]) -> list[Observed]:
    tick, found = 0, []
    for gap, inventory in rows:
        tick += gap
        found.append(Observed(tick, inventory))
    return found


def test_a_peak_counts_if_it_lasts_or_was_yielded() -> None:
    rows = [Observed(1, {"a": 5}), Observed(2, {"a": 1})]
    assert largest_gain({}, rows, ["a"]) == 1
    rows[0] = Observed(1, {"a": 5}, frozenset("a"))
    assert largest_gain({}, rows, ["a"]) == 5
    assert largest_gain({}, [Observed(1, {"a": 5}), Observed(2, {"a": 5}), Observed(3, {})], ["a"]) == 5


def test_several_items_count_together_or_each() -> None:
    rows = [Observed(1, {"a": 2, "b": 3})]
    assert largest_gain({}, rows, ["a", "b"]) == 5
    assert largest_gain({}, rows, ["a", "b"], each=True) == 3


def test_nothing_accepted_or_nothing_seen_is_unknown() -> None:
    assert largest_gain({}, [Observed(1, {"a": 1})], []) is None
    assert largest_gain({}, [], ["a"]) is None


@given(counts, steps)
def test_changes_add_up_to_the_last_inventory(
    baseline: dict[str, int], rows: list[tuple[int, dict[str, int]]]
) -> None:
    seen = observed(rows)
    held = dict(baseline)
    for _, _, item, delta, count in changes(baseline, seen):
        held[item] = held.get(item, 0) + delta
        assert held[item] == count
    last = seen[-1].inventory if seen else baseline
    assert {k: n for k, n in held.items() if n} == {k: n for k, n in last.items() if n}


@given(counts, steps)
def test_a_gain_is_between_zero_and_the_highest_count(
    baseline: dict[str, int], rows: list[tuple[int, dict[str, int]]]
) -> None:
    gain = largest_gain(baseline, observed(rows), ["a"])
    if rows:
        assert gain is not None
        assert 0 <= gain <= max(inventory.get("a", 0) for _, inventory in rows)


def test_amounts_are_sorted_and_without_zeros() -> None:
    assert amounts({"b": 1, "a": 2, "c": 0}) == [{"name": "a", "count": 2}, {"name": "b", "count": 1}]
