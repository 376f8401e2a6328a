"""Monitor's feedback on evaluation episodes, kept beside them, and what attempts fail of in both arms."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rollouts.evaluation import EMPTY, NOBODY, evaluation_home
from rollouts.lineage import stored_trace
from rollouts.monitor import monitor_shards
from rollouts.rates import Rate
from rollouts.report import read_arms
from rollouts.report.arms import Arms
from rollouts.report.failures import Failures, failures
from rollouts.report.judged import judged_attempts
from tests.made_evaluation import Played, episode_id, suite, write
from warehouse.domains import Domain
from warehouse.ids import file_digest
from warehouse.trace_store import feedback_store, trace_store

SUITE = suite([("wooden", "a"), ("wooden", "b")])


def attempt(of: int, number: int, success: bool | None, end_reason: str) -> dict[str, Any]:
    return {
        "of": of,
        "attempt": number,
        "condition": "craft a stick",
        "kind": "craft",
        "target": "stick",
        "needed": 1,
        "start_tick": 20 * number,
        "end_tick": 20 * number + 19,
        "success": success,
        "end_reason": end_reason,
        "knowledge_used": [],
    }


def play(home: Path, frozen_ends: tuple[str, ...] = ("death",)) -> Arms:
    write(
        home,
        NOBODY,
        "wooden",
        [Played("a", False), Played("b", True)],
        [attempt(0, 0, False, "timeout"), attempt(0, 1, False, "death"), attempt(1, 0, True, "success")],
    )
    ends = [attempt(0, number, False, end) for number, end in enumerate(frozen_ends)]
    write(home, "0001", "wooden", [Played("a", False), Played("b", None)], ends)
    return read_arms(home, SUITE)


def stored(home: Path) -> dict[str, str]:
    folder = evaluation_home(home) / "feedback"
    return {path.name: file_digest(path) for path in sorted(folder.rglob("*")) if path.is_file()}


def test_attempts_are_judged_by_monitor_once_and_kept_with_the_evaluation(
    tmp_path: Path, minecraft: Domain
) -> None:
    arms = play(tmp_path)
    judged = judged_attempts(arms, minecraft)
    assert judged.height == 4
    own = evaluation_home(tmp_path)
    direct = monitor_shards([stored_trace(trace_store(own), NOBODY, "wooden", EMPTY)], minecraft)
    columns = ["episode_id", "attempt", "y", "failure_type", "stagnant"]
    assert judged.filter(pl.col("arm") == EMPTY).select(columns).equals(direct.select(columns))
    before = stored(tmp_path)
    assert judged_attempts(arms, minecraft).equals(judged)
    assert stored(tmp_path) == before
    assert not (tmp_path / "feedback").exists(), "no fold may find it"


def test_what_was_played_anew_is_judged_anew(tmp_path: Path, minecraft: Domain) -> None:
    judged_attempts(play(tmp_path), minecraft)
    arms = play(tmp_path, ("timeout", "death"))
    judged = judged_attempts(arms, minecraft)
    assert judged.filter(pl.col("arm") == "0001").height == 2
    store = feedback_store(evaluation_home(tmp_path))
    assert len(store.sources("0001")) == 1, "the outdated feedback is dropped"


def test_an_arm_without_an_attempt_has_no_feedback(tmp_path: Path, minecraft: Domain) -> None:
    judged = judged_attempts(play(tmp_path, ()), minecraft)
    assert set(judged["arm"]) == {EMPTY}


def made(
    arms: Arms, *rows: tuple[str, str, bool | None, str | None, bool | None, bool | None]
) -> pl.DataFrame:
    """(arm, task, y, failure type, stagnant, stagnant by the paper)."""
    return pl.DataFrame(
        [
            (arm, episode_id(NOBODY if arm == EMPTY else arm, Played(task, None)), *rest)
            for arm, task, *rest in rows
        ],
        schema=["arm", "episode_id", "y", "failure_type", "stagnant", "stagnant_paper"],
        orient="row",
    )


def found_in(home: Path) -> Failures:
    for build in (NOBODY, "0001"):
        write(home, build, "wooden", [Played("a", False), Played("b", build == NOBODY or None)])
    arms = read_arms(home, SUITE)
    return failures(
        arms,
        made(
            arms,
            (EMPTY, "a", False, "NAV_STUCK", True, True),
            (EMPTY, "a", False, "NAV_STUCK", True, False),
            (EMPTY, "a", False, "TIMEOUT", False, False),
            (EMPTY, "a", True, "NONE", False, False),
            # Its pair is excluded: nothing of it counts.
            (EMPTY, "b", False, "DEATH", True, True),
            ("0001", "a", False, "TIMEOUT", False, False),
            ("0001", "a", None, None, None, None),
            ("0001", "a", None, "INFRASTRUCTURE", None, None),
            ("0001", "b", False, "DEATH", True, True),
        ),
    )


def test_failed_attempts_are_counted_by_type_with_their_share(tmp_path: Path) -> None:
    found = found_in(tmp_path)
    assert found.mix.rows() == [
        ("NAV_STUCK", 2, 0, pytest.approx(2 / 3), 0),
        ("TIMEOUT", 1, 1, pytest.approx(1 / 3), 1),
    ]
    assert found.mix.columns == ["failure_type", "empty", "frozen", "empty_share", "frozen_share"]
    assert found.ends.rows() == [("horizon", 1, 1)]


def test_undecided_is_no_failure_and_both_stagnation_rates_are_told(tmp_path: Path) -> None:
    found = found_in(tmp_path)
    empty, frozen = found.empty, found.frozen
    assert (empty.attempts, empty.succeeded, empty.failed, empty.undecided, empty.broken) == (4, 1, 3, 0, 0)
    assert (frozen.attempts, frozen.succeeded, frozen.failed) == (3, 0, 1)
    assert (frozen.undecided, frozen.broken) == (1, 1)
    assert (empty.stagnant, empty.stagnant_paper) == (Rate(2, 4), Rate(1, 4))
    assert (frozen.stagnant, frozen.stagnant_paper) == (Rate(0, 1), Rate(0, 1))


def test_without_a_failure_there_is_no_share(tmp_path: Path) -> None:
    for build in (NOBODY, "0001"):
        write(tmp_path, build, "wooden", [Played("a", True)])
    arms = read_arms(tmp_path, SUITE)
    found = failures(arms, made(arms, (EMPTY, "a", False, "DEATH", False, False)))
    assert found.mix.rows() == [("DEATH", 1, 0, 1, None)]
