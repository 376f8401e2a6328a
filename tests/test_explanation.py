"""What is known of one entry, read from the published warehouse."""

import shutil
from contextlib import closing
from pathlib import Path

import duckdb
import polars as pl
import pytest

from rollouts.report.explanation import PATHS_SHOWN, Explanation, explanation, told
from tests.test_fold import curate, make_home
from tests.test_log import skill
from warehouse.analysis import ANALYSIS, publish, query
from warehouse.entries import Entry
from warehouse.fold import rebuild
from warehouse.knowledge import Predicate
from warehouse.trace_store import trace_store


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_home(tmp_path_factory.mktemp("explanation"))
    rebuild(root, curate)
    publish(root)
    return root


def stored(home: Path, entry_id: str) -> Entry:
    record = query(home, "SELECT record FROM knowledge WHERE entry_id = $1", [entry_id]).item()
    return Entry.model_validate_json(record)


def of_skill(home: Path) -> Explanation:
    return explanation(home, stored(home, skill("b1").entry_id))


def also(home: Path, tmp_path: Path, *statements: str) -> Path:
    """The home with more rows in what it publishes."""
    copy = tmp_path / "home"
    shutil.copytree(home, copy)
    with closing(duckdb.connect(copy / ANALYSIS)) as con:
        for statement in statements:
            con.execute(statement)
    return copy


def test_evidence_leads_to_the_file_and_the_tick(home: Path) -> None:
    found = of_skill(home)
    assert set(found.evidence["feedback_id"]) == {each.feedback_id for each in found.entry.support}
    assert found.evidence["file"].str.ends_with("_0.json").all()
    assert found.evidence.select("start_tick", "end_tick").null_count().sum_horizontal().item() == 0
    assert found.entry.entry_id[:8] in found.text


def test_paths_are_the_recorded_positions_of_the_cited_attempts(home: Path) -> None:
    found = of_skill(home)
    drawn = found.evidence.drop_nulls("map")
    assert 0 < drawn.height == min(PATHS_SHOWN, found.evidence.height)
    ticks = trace_store(home).scan("ticks").collect()
    for row in drawn.iter_rows(named=True):
        wanted = ticks.filter(episode_id=row["episode_id"], attempt=row["attempt"]).sort("tick")
        path = found.paths.filter(map=row["map"])
        assert path.select("tick", "x", "y", "z").rows() == wanted.select("tick", "x", "y", "z").rows()
        marks = {mark: place for mark, *place in found.marks.filter(map=row["map"]).drop("map").rows()}
        ends = wanted.select("x", "z").rows()
        assert (tuple(marks["start"]), tuple(marks["end"])) == (ends[0], ends[-1])
        shows = wanted.filter(pl.col("tick") <= row["evidence_tick"]).select("x", "z").rows()[-1]
        assert tuple(marks["evidence"]) == shows


def test_uses_count_by_episode_and_build(home: Path) -> None:
    found = of_skill(home)
    assert found.by_build.rows() == [("b2", 1, 0, 1)]
    assert sorted(map(str, found.uses["won"])) == ["None", "True"]


def test_states_and_decisions_follow_the_builds(home: Path) -> None:
    found = of_skill(home)
    assert found.versions["build"].to_list() == ["b1", "b2"]
    assert found.versions["version"].is_sorted()
    assert set(found.decisions["verdict"]) == {"accepted"}
    assert found.decisions["candidate_id"].null_count() == 0


def test_tests_that_were_not_made_are_told_from_tests_without_result(home: Path, tmp_path: Path) -> None:
    """`old` was merged into the skill: in the world of both, each has a pair of its own."""
    assert of_skill(home).tryouts.is_empty()
    one = skill("b1").entry_id
    rows = [
        (one, 1, "with", True),
        (one, 1, "without", False),
        (one, 2, "with", True),
        (one, 2, "without", True),
        (one, 3, "with", None),
        ("old", 1, "with", False),
        ("old", 1, "without", True),
    ]
    inserts = [
        f"INSERT INTO tryouts BY NAME SELECT 'b1' AS build, '{entry_id}' AS entry_id, 's' AS situation, "
        f"{seed} AS world_seed, '{arm}' AS arm, "
        f"CAST({'NULL' if success is None else success} AS BOOLEAN) AS success, 100 AS ticks"
        for entry_id, seed, arm, success in rows
    ]
    merged = f"UPDATE knowledge SET merged_from = ['old'] WHERE entry_id = '{one}'"
    found = of_skill(also(home, tmp_path, merged, *inserts))
    assert found.kin == tuple(sorted((one, "old")))
    assert found.tryouts.row(0, named=True) == {
        **{"build": "b1", "pairs": 3, "both": 1, "only_with": 1, "only_without": 1, "neither": 0},
        **{"undecided": 1, "ticks": 700},
    }


def test_conflicts_name_both_sides_and_neighbours_the_same_action(home: Path, tmp_path: Path) -> None:
    one = skill("b1").entry_id
    decision = "INSERT INTO decisions SELECT '{}', 'b2', 'c', '{}', '{}', [], NULL, ['{}']"
    copy = also(
        home,
        tmp_path,
        decision.format("d1", one, "accepted", "other"),
        decision.format("d2", "third", "rejected", one),
        "INSERT INTO knowledge SELECT * REPLACE ('beside' AS entry_id) FROM knowledge "
        f"WHERE entry_id = '{one}'",
    )
    found = of_skill(copy)
    assert found.conflicts.select("entry_id", "decided", "status").rows() == [
        ("other", "this: accepted", "never stored"),
        ("third", "the other: rejected", "never stored"),
    ]
    assert found.neighbours["entry_id"].to_list() == ["beside"]
    assert of_skill(home).conflicts.is_empty()


@pytest.mark.parametrize(
    ("predicate", "said"),
    [
        (Predicate(field="inventory.stick", op="lt", value=2), "inventory.stick < 2"),
        (Predicate(field="stagnant", op="eq", value=True), "stagnant = true"),
        (Predicate(field="target", op="in", value=("a", "b")), "target in a, b"),
    ],
)
def test_predicates_are_told_in_signs(predicate: Predicate, said: str) -> None:
    assert told(predicate) == said
