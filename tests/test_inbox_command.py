"""`mineevolve knowledge hand-in` and `take-in`, from one data home to another."""

from pathlib import Path

from tests.test_command import call, words
from tests.test_fold import make_home
from tests.test_inbox import proposed
from warehouse import log
from warehouse.analysis import query
from warehouse.exchange import facts_imported
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
