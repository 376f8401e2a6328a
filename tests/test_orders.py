"""Orders: which build is next is decided by the store."""

from pathlib import Path

import pytest

from pipeline.curricula import load_curriculum
from pipeline.orders import (
    OrderError,
    due,
    is_trained,
    is_whole,
    next_build,
    order_of,
    place_order,
    read_order,
    read_orders,
)
from rollouts.lineage import TRAINING
from warehouse.domains import Domain
from warehouse.records import empty
from warehouse.shards import DamagedShardError
from warehouse.snapshots import publish_snapshot
from warehouse.trace_store import feedback_store, trace_store

TWO_BUILDS = """
doc = "Two builds."
[[builds]]
repeat = 2
play = [{ groups = ["wooden", "iron"], episodes = 4 }]
[evaluate]
groups = ["wooden"]
"""


@pytest.fixture
def curriculum(tmp_path: Path, minecraft: Domain):  # type: ignore[no-untyped-def]
    path = tmp_path / "two.toml"
    path.write_text(TWO_BUILDS, encoding="utf-8")
    return load_curriculum(path, minecraft)


def judged(home: Path, build: str, *groups: str) -> None:
    for group in groups:
        feedback_store(home).write_source(build, group, TRAINING, {"feedback": empty("feedback")}, [])


def test_the_same_build_is_due_until_it_is_whole(tmp_path: Path, curriculum) -> None:  # type: ignore[no-untyped-def]
    home = tmp_path / "home"
    first = due(home, curriculum, "rules")
    assert first is not None
    assert (first.build, first.number) == ("0001", 1)
    assert due(home, curriculum, "rules") == first
    judged(home, "0001", "wooden")
    assert not is_trained(home, first)  # a group is missing
    publish_snapshot(home, "0001", ())
    assert not is_whole(home, first)
    assert due(home, curriculum, "rules") == first
    judged(home, "0001", "iron")
    assert is_whole(home, first)
    second = due(home, curriculum, "rules")
    assert second is not None
    assert (second.build, second.number) == ("0002", 2)
    judged(home, "0002", "wooden", "iron")
    publish_snapshot(home, "0002", ())
    assert due(home, curriculum, "rules") is None
    assert read_orders(home) == [first, second]


def test_an_order_stays_as_it_was_given(tmp_path: Path, curriculum) -> None:  # type: ignore[no-untyped-def]
    home = tmp_path / "home"
    first = due(home, curriculum, "rules")
    assert first is not None
    other = order_of(curriculum, curriculum.build(2), "0001", "another")
    assert place_order(home, other) == first
    assert read_orders(home) == [first]
    assert sum(first.training["worlds"].values()) == 4
    assert "workers" not in first.training
    (home / "orders" / "0001.json").write_text("{", encoding="utf-8")
    with pytest.raises(DamagedShardError, match=r"0001\.json is damaged"):
        read_orders(home)


def test_how_a_build_learns_is_a_part_of_its_order(tmp_path: Path, curriculum) -> None:  # type: ignore[no-untyped-def]
    planned = curriculum.build(1)
    begun = order_of(curriculum, planned, "0001", "rules", {"backtest": True, "reviewer": ""})
    assert read_order(tmp_path, place_order(tmp_path, begun).build) == begun
    assert begun.is_as(begun.model_copy(update={"asked": (), "evaluation": {}}))
    assert not begun.is_as(
        order_of(curriculum, planned, "0001", "rules", {"backtest": False, "reviewer": ""})
    )
    assert not begun.is_as(order_of(curriculum, planned, "0001", "another", begun.learning))
    older = order_of(curriculum, planned, "0001", "rules")
    assert older.is_as(begun), "it does not say"


def test_the_next_build_comes_after_every_one_that_was_begun(tmp_path: Path) -> None:
    assert next_build(tmp_path) == "0001"
    # A build of recordings alone was not begun: they wait there for the next one.
    trace_store(tmp_path).write_source("0001", "imported", "somebody", {"episodes": empty("episodes")})
    assert next_build(tmp_path) == "0001"
    publish_snapshot(tmp_path, "0007", ())
    assert next_build(tmp_path) == "0008"
    trace_store(tmp_path).write_source("0009", "wooden", TRAINING, {"episodes": empty("episodes")})
    assert next_build(tmp_path) == "0010"


@pytest.mark.parametrize("last", ["mine", "9999"])
def test_a_build_after_which_no_number_sorts_is_told(last: str, tmp_path: Path) -> None:
    publish_snapshot(tmp_path, last, ())
    with pytest.raises(OrderError, match=f"the last build is called '{last}'"):
        next_build(tmp_path)
