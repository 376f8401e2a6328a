"""Snapshots: immutable, named by their content, whole or refused."""

from pathlib import Path

import orjson
import pytest

from tests.test_fold import _supported
from tests.test_log import remedy, skill
from warehouse.entries import Entry, Support
from warehouse.places import Place
from warehouse.shards import DamagedShardError
from warehouse.snapshots import (
    diff,
    freeze,
    list_snapshots,
    load_snapshot,
    publish_snapshot,
    published_snapshot,
    snapshot_id_of,
    verify_snapshots,
    write_snapshot,
)

SUPPORT = [Support(feedback_id=f"{n:020x}", episode_id=f"{n // 2:020x}") for n in range(4)]


def entry(target: str = "stick", **changes: object) -> Entry:
    made = _supported(skill("b1", target=target), SUPPORT, None, "b1")
    return made.model_copy(update=changes)


def trap() -> Entry:
    return _supported(remedy("b1"), SUPPORT[:2], None, "b1")


def test_a_snapshot_reads_back_what_was_frozen(tmp_path: Path) -> None:
    folder = write_snapshot(tmp_path, [trap(), entry(), entry("torch", status="retired")])

    loaded = load_snapshot(folder)

    assert loaded.snapshot_id == folder.name
    assert loaded.entries == freeze([entry(), trap()])
    assert [one.status for one in loaded.entries] == ["active", "active"]
    assert {one.support_episodes for one in loaded.entries} == {2, 1}


def test_where_an_entry_was_learnt_is_frozen_with_it(tmp_path: Path) -> None:
    known = Place((1.5, 12.0, -3.25), biome="plains", world="w/4")
    placed = entry(support=(SUPPORT[0].model_copy(update={"place": known}), SUPPORT[1]))

    loaded = load_snapshot(write_snapshot(tmp_path, [placed]))

    assert loaded.entries[0].places == (known,)
    assert loaded.snapshot_id != snapshot_id_of([entry(support=tuple(SUPPORT[:2]))])


def test_the_id_comes_from_the_content_alone(tmp_path: Path) -> None:
    turned = entry(support=tuple(reversed(SUPPORT)))

    assert snapshot_id_of([entry(), trap()]) == snapshot_id_of([trap(), turned])
    assert snapshot_id_of([entry()]) != snapshot_id_of([entry(wins=1)])
    assert snapshot_id_of([entry()]) != snapshot_id_of([entry(version=2)])
    one, two = (
        write_snapshot(tmp_path / "a", [entry(), trap()]),
        write_snapshot(tmp_path / "b", [trap(), turned]),
    )
    assert {path.name: path.read_bytes() for path in one.iterdir()} == {
        path.name: path.read_bytes() for path in two.iterdir()
    }


def test_the_last_bits_of_a_sum_do_not_change_the_id() -> None:
    assert snapshot_id_of([entry(confidence=0.3)]) == snapshot_id_of([entry(confidence=0.1 + 0.2)])


def test_writing_a_snapshot_again_leaves_it_alone(tmp_path: Path) -> None:
    folder = write_snapshot(tmp_path, [entry()])
    written = {path: path.stat().st_mtime_ns for path in folder.iterdir()}

    assert write_snapshot(tmp_path, [entry()]) == folder

    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == written


@pytest.mark.parametrize("name", ["entries.parquet", "support.parquet", "manifest.json"])
def test_a_truncated_file_is_named_and_nothing_is_overwritten(tmp_path: Path, name: str) -> None:
    folder = write_snapshot(tmp_path, [entry(), trap()])
    file = folder / name
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    before = {path: path.read_bytes() for path in folder.iterdir()}

    for act in (
        lambda: load_snapshot(folder),
        lambda: write_snapshot(tmp_path, [entry(), trap()]),
        lambda: verify_snapshots(tmp_path),
    ):
        with pytest.raises(DamagedShardError, match=name.replace(".", r"\.")):
            act()

    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_entries_that_are_not_those_of_the_id_are_refused(tmp_path: Path) -> None:
    folder = write_snapshot(tmp_path, [entry()])
    renamed = folder.with_name("0" * 20)
    folder.rename(renamed)

    with pytest.raises(DamagedShardError, match="its entries make snapshot"):
        load_snapshot(renamed)


def test_a_folder_without_a_manifest_is_no_snapshot(tmp_path: Path) -> None:
    folder = write_snapshot(tmp_path, [entry()])
    (folder / "manifest.json").unlink()

    assert list_snapshots(tmp_path) == []
    with pytest.raises(FileNotFoundError, match="no snapshot was committed there"):
        load_snapshot(folder)
    assert load_snapshot(write_snapshot(tmp_path, [entry()])).entries == freeze([entry()])


def test_nothing_known_is_a_snapshot_too(tmp_path: Path) -> None:
    assert load_snapshot(write_snapshot(tmp_path, [])).entries == ()


def test_a_build_names_the_snapshot_that_it_published(tmp_path: Path) -> None:
    first = publish_snapshot(tmp_path, "b1", [entry()])
    second = publish_snapshot(tmp_path, "b1", [entry(), trap()])
    publish_snapshot(tmp_path, "manifest", [entry()])

    assert published_snapshot(tmp_path, "b1") == second.name
    assert published_snapshot(tmp_path, "b2") is None
    assert list_snapshots(tmp_path) == sorted([first, second]), "the earlier one stays"
    with pytest.raises(ValueError, match="cannot name a file"):
        publish_snapshot(tmp_path, "../b1", [])


def test_the_manifest_lists_each_file_with_its_hash(tmp_path: Path) -> None:
    manifest = orjson.loads((write_snapshot(tmp_path, [entry(), trap()]) / "manifest.json").read_bytes())

    assert manifest["entries"] == 2
    assert (manifest["skills"], manifest["remedies"]) == (1, 1)
    assert {name: one["rows"] for name, one in manifest["files"].items()} == {
        "entries.parquet": 2,
        "support.parquet": 6,
    }


def test_diff_says_what_changed_and_on_what_evidence(tmp_path: Path) -> None:
    merged = entry("torch", merged_from=(entry("ladder").entry_id,))
    old = load_snapshot(write_snapshot(tmp_path, [entry(), entry("ladder"), trap(), entry("bowl")]))
    new = load_snapshot(write_snapshot(tmp_path, [entry(uses=3, wins=2, version=2), merged, entry("bowl")]))

    rows = {row["entry_id"]: row for row in diff(old, new).iter_rows(named=True)}

    assert {rows[key]["change"] for key in rows} == {"added", "changed", "merged", "removed"}
    assert rows[merged.entry_id]["change"] == "added"
    assert rows[merged.entry_id]["support_episodes_before"] is None
    assert rows[merged.entry_id]["support_episodes_after"] == 2
    assert rows[entry("ladder").entry_id]["change"] == "merged"
    assert rows[trap().entry_id]["change"] == "removed"
    changed = rows[entry().entry_id]
    assert (changed["uses_before"], changed["uses_after"], changed["wins_after"]) == (0, 3, 2)
    assert entry("bowl").entry_id not in rows
    assert diff(old, old).is_empty()


def test_diff_names_a_change_of_status(tmp_path: Path) -> None:
    active = load_snapshot(write_snapshot(tmp_path, [entry()]))
    demoted = load_snapshot(write_snapshot(tmp_path, [entry(status="demoted", version=2)]))

    columns = ("change", "status_before", "status_after")
    assert diff(active, demoted).select(columns).rows() == [("demoted", "active", "demoted")]
    assert diff(demoted, active).select(columns).rows() == [("restored", "demoted", "active")]
