"""The task suite and its oracles."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from warehouse.domains import load_domain
from warehouse.tasks import Suite, Task, accepts, lint, load_suite

DOMAIN = load_domain("minecraft")
LOG_TASK = {
    "id": "logs",
    "group": "wooden",
    "kind": "mine",
    "instruction": "Gather three logs",
    "horizon_ticks": 2400,
    "any_of": ["#logs"],
    "count": 3,
    "verifiable_by": "inventory",
}


def suite_of(folder: Path, *tasks: dict[str, object]) -> Suite:
    path = folder / "suite.json"
    path.write_text(json.dumps({"source": "", "rule": "", "ticks_per_minute": 1200, "tasks": tasks}))
    return load_suite(path, DOMAIN)


@pytest.fixture
def log_task(tmp_path: Path) -> Task:
    return suite_of(tmp_path, LOG_TASK).task("logs")


@pytest.fixture(scope="module")
def suite(shared_file: Callable[[str], Path]) -> Suite:
    return load_suite(shared_file("tasks/mcu_tech_tree_70.json"), DOMAIN)


def test_an_oracle_sums_the_items_behind_a_tag(log_task: Task) -> None:
    assert accepts(log_task, {"oak_log": 3})
    assert accepts(log_task, {"oak_log": 1, "birch_log": 2})
    assert not accepts(log_task, {"oak_log": 2, "oak_planks": 64})
    assert not accepts(log_task, {})


@given(inventory=st.dictionaries(st.sampled_from(sorted(DOMAIN.items)), st.integers(0, 64)))
def test_an_oracle_sees_its_own_items_alone(inventory: dict[str, int]) -> None:
    accepted = DOMAIN.expand("#planks")
    task = Task.model_validate({**LOG_TASK, "any_of": ["#planks"], "accepted": accepted})
    assert accepts(task, inventory) == (sum(inventory.get(item, 0) for item in accepted) >= 3)


def test_an_event_task_needs_its_event(tmp_path: Path) -> None:
    row = {
        **LOG_TASK,
        "any_of": ["stick"],
        "count": 1,
        "verifiable_by": "event",
        "note": 'needs an event "bought it"',
    }
    task = suite_of(tmp_path, row).task("logs")
    assert task.event == "bought it"
    assert not accepts(task, {"stick": 64})
    assert not accepts(task, {}, {"bought it"})
    assert accepts(task, {"stick": 1}, {"bought it"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"any_of": ["vibranium"]}, "vibranium"),
        ({"any_of": []}, "any_of"),
        ({"count": 0}, "count"),
        ({"verifiable_by": "unreachable"}, "needs a note"),
        ({"verifiable_by": "event", "note": "something happens"}, "quote the event"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_bad_task_is_refused_with_the_reason(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        suite_of(tmp_path, {**LOG_TASK, **change})


def test_two_tasks_of_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="used twice"):
        suite_of(tmp_path, LOG_TASK, LOG_TASK)


def test_lint_finds_an_oracle_that_is_too_wide_or_too_narrow(log_task: Task) -> None:
    wide = log_task.model_copy(update={"accepted": log_task.accepted | {"stick"}})
    narrow = log_task.model_copy(update={"accepted": log_task.accepted - {"oak_log"}})
    good, too_wide, too_narrow = lint([log_task, wide, narrow], DOMAIN)
    assert good.ok
    assert good.rejected == len(DOMAIN.items) - len(log_task.accepted)
    assert not too_wide.ok
    assert "accepts stick" in too_wide.verdict
    assert not too_narrow.ok
    assert "rejects oak_log" in too_narrow.verdict


def test_every_oracle_of_the_suite_is_exact(suite: Suite) -> None:
    results = lint(suite.tasks, DOMAIN)
    assert len(results) == 70
    assert [result.verdict for result in results if not result.ok] == []
    assert all(len(result.accepted) + result.rejected == len(DOMAIN.items) for result in results)


def test_five_tasks_are_exceptions_and_say_why(suite: Suite) -> None:
    exceptions = {
        result.task_id: result.exception for result in lint(suite.tasks, DOMAIN) if result.exception
    }
    assert sorted(exceptions) == ["armor_09", "armor_10", "armor_11", "iron_15", "redstone_03"]
    assert suite.task("iron_15").event == "traded with a villager"


def test_groups_keep_the_order_of_the_file(suite: Suite) -> None:
    assert suite.groups == ("wooden", "stone", "iron", "gold", "redstone", "diamond", "armor")
    with pytest.raises(KeyError):
        suite.task("wooden_99")


def test_an_oak_log_is_no_wooden_pickaxe(suite: Suite) -> None:
    assert not accepts(suite.task("wooden_00"), {"oak_log": 64})


def test_all_but_one_task_has_a_way_to_its_target(suite: Suite) -> None:
    hopeless = [task.id for task in suite.tasks if not any(map(DOMAIN.sources, task.accepted))]
    assert hopeless == ["armor_09"]
