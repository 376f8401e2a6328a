"""Rollback: a build hands on an earlier snapshot, nothing is deleted, and a rebuild gives the same."""

from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from tests.test_fold import cited, curate, make_home, tables
from tests.test_log import skill
from warehouse import log
from warehouse.database import fetch, writer
from warehouse.entries import Entry
from warehouse.first_pass import undecided
from warehouse.fold import fold_build, rebuild, store_after
from warehouse.rollback import (
    RollbackError,
    note_rollback,
    outdated,
    rollbacks,
    set_back,
    shown_to_curator,
    standing,
    with_withdrawn,
)
from warehouse.shards import DamagedShardError
from warehouse.snapshots import Snapshot, load_snapshot, publish_snapshot, published_snapshot

TORCH = skill("b2", target="torch", support=cited("b2", 0, 1))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two builds, folded and published; the second learnt something of its own."""
    made = make_home(tmp_path)
    log.append(made, "candidates", "b2", log.candidate_rows([TORCH]))
    rebuild(made, curate)
    for build in ("b1", "b2"):
        publish_snapshot(made, build, store_after(made, build))
    return made


def of_build(home: Path, build: str) -> Snapshot:
    return load_snapshot(home / "snapshots" / str(published_snapshot(home, build)))


def status(home: Path) -> dict[str, str]:
    with writer(home) as con:
        return dict(fetch(con, "SELECT entry_id, status FROM knowledge").iter_rows())


def test_a_build_that_is_set_back_knows_what_the_snapshot_holds_and_nothing_else(home: Path) -> None:
    earlier, later = of_build(home, "b1"), of_build(home, "b2")
    assert TORCH.entry_id in {entry.entry_id for entry in later.entries}

    note_rollback(home, "b2", earlier)
    report = fold_build(home, "b2", curate)

    assert report.snapshot_ids["b2"] == earlier.snapshot_id
    store = store_after(home, "b2")
    assert [one for one in store if one.status == "active"] == list(earlier.entries)
    assert {one.entry_id: one.status for one in store}[TORCH.entry_id] == "withdrawn"
    assert standing(home)[-1] == ("b2", earlier.snapshot_id, later.snapshot_id)


def test_nothing_is_deleted_and_the_decision_says_why(home: Path) -> None:
    files = {path for path in home.rglob("*") if path.is_file()}
    earlier, later = of_build(home, "b1"), of_build(home, "b2")

    note_rollback(home, "b2", earlier)
    fold_build(home, "b2", curate)

    assert files <= {path for path in home.rglob("*") if path.is_file()}
    assert load_snapshot(later.path).entries == later.entries
    with writer(home) as con:
        why = fetch(
            con,
            "SELECT reasons[1].rule AS rule, reasons[1].detail AS detail FROM decisions "
            "WHERE entry_id = $1 AND verdict = 'rejected'",
            [TORCH.entry_id],
        )
        versions = fetch(
            con,
            "SELECT status FROM knowledge_versions WHERE entry_id = $1 ORDER BY build",
            [TORCH.entry_id],
        )
    assert why.rows() == [("rollback", f"build b2 was set back to snapshot {earlier.snapshot_id}")]
    assert versions["status"].to_list() == ["withdrawn"]


def test_a_rebuild_gives_the_same(home: Path) -> None:
    note_rollback(home, "b2", of_build(home, "b1"))
    fold_build(home, "b2", curate)
    folded = tables(home)

    rebuild(home, curate)

    for name, frame in tables(home).items():
        assert_frame_equal(frame, folded[name])


def test_a_rollback_is_taken_back_by_another(home: Path) -> None:
    before = status(home)
    earlier, later = of_build(home, "b1"), of_build(home, "b2")
    for snapshot in (earlier, later):
        note_rollback(home, "b2", snapshot)
        fold_build(home, "b2", curate)

    assert status(home) == before
    assert standing(home)[-1] == ("b2", later.snapshot_id, None)
    assert sorted(log.read(home, "rollbacks")["number"]) == [1, 2]


def test_said_twice_it_is_logged_once(home: Path) -> None:
    earlier = of_build(home, "b1")
    note_rollback(home, "b2", earlier)
    note_rollback(home, "b2", earlier)
    fold_build(home, "b2", curate)
    note_rollback(home, "b2", earlier)

    assert log.read(home, "rollbacks").height == 1
    assert rollbacks(home) == {("b2", standing(home)[-1].own): earlier.snapshot_id}


def test_a_new_generation_is_not_touched_by_it(home: Path) -> None:
    note_rollback(home, "b2", of_build(home, "b1"))
    fold_build(home, "b2", curate)

    again = skill("b2", target="bowl", support=cited("b2", 0, 1))
    log.append(home, "candidates", "b2", log.candidate_rows([again]))
    fold_build(home, "b2", curate)

    assert {TORCH.entry_id, again.entry_id} <= {e.entry_id for e in store_after(home, "b2")}
    assert standing(home)[-1].instead_of is None
    assert {one.build for one in outdated(home)} == {"b2"}, "its pointer is of the old generation"


def test_what_follows_from_a_build_that_is_set_back_is_named(home: Path) -> None:
    publish_snapshot(home, "b0", ())
    log.append(
        home, "candidates", "b1", log.candidate_rows([skill("b1", target="bowl", support=cited("b1", 0, 1))])
    )
    first = of_build(home, "b1")
    fold_build(home, "b1", curate)
    assert {one.build for one in outdated(home)} == {"b1", "b2"}
    for build in ("b1", "b2"):
        publish_snapshot(home, build, store_after(home, build))
    assert outdated(home) == []

    note_rollback(home, "b1", first)
    fold_build(home, "b1", curate)

    found = {one.build: str(one) for one in outdated(home)}
    assert set(found) == {"b1", "b2"}
    assert found["b1"].endswith(f"its knowledge is now {first.snapshot_id}")


def test_a_rollback_that_makes_no_sense_is_refused(home: Path) -> None:
    later = of_build(home, "b2")
    with pytest.raises(RollbackError, match="learnt in build b2, after build b1"):
        note_rollback(home, "b1", later)
    with pytest.raises(RollbackError, match="b9 has no knowledge yet"):
        note_rollback(home, "b9", later)
    uncurated = load_snapshot(publish_snapshot(home, "b1", later.entries, curated=False))
    with pytest.raises(RollbackError, match="candidates as they came"):
        note_rollback(home, "b2", uncurated)
    assert log.read(home, "rollbacks").is_empty()


def test_a_snapshot_that_is_gone_is_named(home: Path) -> None:
    old = of_build(home, "b1")
    note_rollback(home, "b2", old)
    for path in old.path.iterdir():
        path.unlink()

    with pytest.raises(DamagedShardError, match=old.snapshot_id):
        fold_build(home, "b2", curate)


def test_a_review_begins_with_what_curation_begins_with(home: Path) -> None:
    note_rollback(home, "b2", of_build(home, "b1"))
    fold_build(home, "b2", curate)

    before = undecided(home, "b3")

    assert set(before.store) == {entry.entry_id for entry in of_build(home, "b1").entries}


def _entry(name: str, **changes: object) -> Entry:
    return Entry(
        entry_id=name,
        domain="minecraft",
        type="skill",
        trigger=TORCH.trigger,
        content=TORCH.content,
        confidence=0.5,
        first_build="b1",
        last_build="b1",
        **changes,  # type: ignore[arg-type]
    )


def test_what_was_merged_into_an_entry_of_the_snapshot_stays_merged(tmp_path: Path) -> None:
    held = _entry("held")
    store = [
        held.model_copy(update={"version": 3, "confidence": 0.9}),
        _entry("into_held", status="merged", merged_into="held"),
        _entry("by_way", status="merged", merged_into="into_held"),
        _entry("elsewhere", status="merged", merged_into="made"),
        _entry("made", merged_from=("elsewhere",)),
        _entry("old", status="retired"),
    ]

    after = {one.entry_id: one for one in set_back(store, Snapshot("s", tmp_path, (held,)))}

    assert after["held"] == held
    assert {name: one.status for name, one in after.items()} == {
        "held": "active",
        "into_held": "merged",
        "by_way": "merged",
        "elsewhere": "withdrawn",
        "made": "withdrawn",
        "old": "withdrawn",
    }
    assert set(shown_to_curator(after.values())) == {"held", "into_held", "by_way"}


def test_an_entry_that_is_learnt_again_goes_on_with_its_version() -> None:
    gone, other = _entry("gone", status="withdrawn", version=2), _entry("other", status="withdrawn")

    after = with_withdrawn([gone, other], {"gone": _entry("gone")})

    assert [(one.entry_id, one.status, one.version) for one in after] == [
        ("gone", "active", 3),
        ("other", "withdrawn", 1),
    ]
