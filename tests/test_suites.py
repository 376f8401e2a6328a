"""The suites that come with a domain."""

from collections.abc import Callable
from pathlib import Path

import pytest

from warehouse.domains import load_domain
from warehouse.suites import DEFAULT_SUITE, SuiteNotFoundError, find_suite, shipped_suites
from warehouse.tasks import lint, load_suite

DOMAIN = load_domain("minecraft")


def test_the_shipped_suite_is_the_benchmarks(shared_file: Callable[[str], Path]) -> None:
    told = load_suite(shared_file("tasks/mcu_tech_tree_70.json"), DOMAIN)
    own = find_suite(DEFAULT_SUITE, DOMAIN)
    assert [task.id for task in own.tasks] == [task.id for task in told.tasks]
    for mine, theirs in zip(own.tasks, told.tasks, strict=True):
        same = {"kind", "instruction", "any_of", "count", "horizon_ticks", "verifiable_by", "group"}
        assert mine.model_dump(include=same) == theirs.model_dump(include=same)
        assert (mine.event, mine.accepted) == (theirs.event, theirs.accepted)


def test_every_shipped_oracle_is_exact() -> None:
    results = lint(find_suite(DEFAULT_SUITE, DOMAIN).tasks, DOMAIN)
    assert len(results) == 70
    assert [result.task_id for result in results if not result.ok] == []
    assert sum(bool(result.exception) for result in results) == 5


def test_groups_say_how_hard_they_are() -> None:
    suite = find_suite(DEFAULT_SUITE, DOMAIN)
    tasks = {
        kind: sum(suite.difficulty[task.group] == kind for task in suite.tasks) for kind in ("easy", "hard")
    }
    assert tasks == {"easy": 28, "hard": 42}


def test_a_file_is_found_by_its_path_and_a_wrong_name_says_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    own = find_suite(DEFAULT_SUITE, DOMAIN)
    path.write_text(own.model_dump_json(exclude={"tasks": {"__all__": {"accepted"}}}))
    assert find_suite(str(path), DOMAIN) == own
    assert shipped_suites(DOMAIN) == [DEFAULT_SUITE]
    with pytest.raises(SuiteNotFoundError, match=f"minecraft: {DEFAULT_SUITE}"):
        find_suite("nothing", DOMAIN)
