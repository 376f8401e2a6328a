"""`mineevolve knowledge hand-in` and `take-in`, from one data home to another."""

import shutil
from pathlib import Path

from tests.test_command import call, words
from tests.test_fold import make_home
from tests.test_inbox import proposed
from warehouse import log
from warehouse.analysis import query
from warehouse.database import WAREHOUSE
from warehouse.exchange import facts_imported
from warehouse.fold import all_builds
from warehouse.inbox import hand_in, take_in, waiting
from warehouse.snapshots import published_snapshot


def learnt(home: Path, *numbers: int, build: str = "0001") -> Path:
    """A data home whose log holds these candidates, with their evidence."""
    hand_in(home, *proposed(*numbers, build=build))
    take_in(home)
    return home


def test_what_two_machines_learnt_ends_in_one_store(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    for number in (0, 4):  # the same two entries, each from other evidence
        machine = learnt(tmp_path / f"machine {number}", number, number + 2)
        told = call(machine, "knowledge", "hand-in", str(shared))
        assert told.exit_code == 0, told.output
        assert "Handed in 2 candidates with 4 pieces of evidence" in words(told)

    taken = call(shared, "knowledge", "take-in")

    assert taken.exit_code == 0, taken.output
    assert "4 candidates were taken into build 0001, which publishes" in words(taken)
    assert str(published_snapshot(shared, "0001")) in taken.output
    entries = query(shared, "SELECT support_episodes FROM knowledge WHERE status = 'active'")
    assert entries["support_episodes"].to_list() == [4, 4]
    assert "The inbox is empty" in call(shared, "knowledge", "take-in").output


def test_what_a_machine_saw_itself_travels_with_its_candidates(tmp_path: Path) -> None:
    machine, shared = make_home(tmp_path / "machine"), tmp_path / "shared"
    shared.mkdir()

    told = call(machine, "knowledge", "hand-in", str(shared), "--build", "b1")
    assert told.exit_code == 0, told.output
    taken = call(shared, "knowledge", "take-in", "--build", "b1")

    assert taken.exit_code == 0, taken.output
    own = {
        one
        for candidate in log.candidates_of(log.read(machine, "candidates", ["b1"]))
        for one in candidate.support
    }
    came = facts_imported(log.read(shared, "imports"))
    assert set(came) == own - {"f" * 20}, "all that is cited and was ever seen"
    assert {fact.kind for fact in came.values()} == {"craft", "mine"}
    assert set(log.read(shared, "candidates")["build"]) == {"b1"}


def test_a_bad_shard_is_named_and_the_rest_is_taken_in(tmp_path: Path) -> None:
    hand_in(tmp_path, *proposed(0, build="0001"))
    (tmp_path / "inbox" / "0001" / "x.parquet").write_bytes(b"")

    taken = call(tmp_path, "knowledge", "take-in")

    assert taken.exit_code == 0, taken.output
    assert "put aside" in taken.output
    assert (
        "is no shard: a shard is named by the 20 digits of its content; kept as quarantine/inbox/0001/"
        in words(taken)
    )
    assert "1 candidates were taken into build 0001" in words(taken)
    assert query(tmp_path, "SELECT files FROM quarantine_summary WHERE source = 'inbox'")[
        "files"
    ].to_list() == [1]


def test_what_cannot_be_handed_in_is_said(tmp_path: Path) -> None:
    machine, shared = learnt(tmp_path / "machine", 0), tmp_path / "shared"
    for target, build, said in (
        (shared, [], "is no folder"),
        (machine, [], "is this data home"),
        (tmp_path, ["--build", "0009"], "has no candidates of build 0009"),
        (tmp_path, ["--build", "../x"], "cannot name a build"),
    ):
        result = call(machine, "knowledge", "hand-in", str(target), *build)
        assert result.exit_code == 2
        assert said in words(result)
    assert not shared.exists()
    assert waiting(tmp_path) == []


def test_what_was_taken_in_and_left_undecided_is_decided_on_by_the_next(tmp_path: Path) -> None:
    learnt(tmp_path, 0, 1)
    learnt(tmp_path, 2, build="0002")  # and both times killed

    first = call(tmp_path, "knowledge", "take-in", "--build", "0002")
    assert first.exit_code == 0, first.output
    assert published_snapshot(tmp_path, "0001") is None
    second = call(tmp_path, "knowledge", "take-in")

    assert second.exit_code == 0, second.output
    told = f"decided on in build 0001, which publishes {published_snapshot(tmp_path, '0001')}."
    assert told in words(second)
    assert query(tmp_path, "SELECT count(*) FROM decisions").item() == 3
    assert "The inbox is empty" in call(tmp_path, "knowledge", "take-in").output


def test_where_the_warehouse_is_lost_nobody_decides_anew_on_what_was_decided(tmp_path: Path) -> None:
    learnt(tmp_path, 0)
    assert call(tmp_path, "knowledge", "take-in").exit_code == 0
    (tmp_path / WAREHOUSE).unlink()

    assert "The inbox is empty" in call(tmp_path, "knowledge", "take-in").output

    assert not (tmp_path / WAREHOUSE).exists()


def test_a_stray_file_has_its_row_and_makes_no_build(tmp_path: Path) -> None:
    hand_in(tmp_path, *proposed(0, build="0001"))
    assert call(tmp_path, "knowledge", "take-in").exit_code == 0
    stray = tmp_path / "inbox" / "0009" / "notes.txt"
    stray.parent.mkdir()
    stray.write_text("no shard")

    taken = call(tmp_path, "knowledge", "take-in")

    assert taken.exit_code == 0, taken.output
    assert "Nothing that could be taken in" in words(taken)
    rows = query(tmp_path, "SELECT build, reason FROM quarantine")
    assert rows["build"].to_list() == ["0009"]
    assert query(tmp_path, "SELECT build FROM builds")["build"].to_list() == ["0001"] == all_builds(tmp_path)
    assert published_snapshot(tmp_path, "0009") is None
    rebuilt = call(tmp_path, "warehouse", "rebuild")
    assert rebuilt.exit_code == 0, rebuilt.output
    assert query(tmp_path, "SELECT build, reason FROM quarantine").equals(rows)
    assert query(tmp_path, "SELECT build FROM builds")["build"].to_list() == ["0001"]


def test_a_reviewer_is_asked_about_what_was_handed_in(tmp_path: Path) -> None:
    hand_in(tmp_path, *proposed(0, 1, build="0001"))

    taken = call(tmp_path, "knowledge", "take-in", MINEEVOLVE_REVIEWER="rules")

    assert taken.exit_code == 0, taken.output
    assert log.read(tmp_path, "reviews", ["0001"]).height == 2


def test_a_failure_ends_in_one_line_and_the_next_goes_on(tmp_path: Path) -> None:
    hand_in(tmp_path, *proposed(0, build="0001"))
    damaged = tmp_path / "snapshots" / ("0" * 20) / "manifest.json"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("{}")

    failed = call(tmp_path, "knowledge", "take-in")

    assert failed.exit_code == 1
    assert "Traceback" not in failed.output
    assert "take_in_candidates failed in curated_knowledge" in words(failed)
    shutil.rmtree(tmp_path / "snapshots")
    again = call(tmp_path, "knowledge", "take-in")
    assert again.exit_code == 0, again.output
    assert published_snapshot(tmp_path, "0001") is not None
