"""`mineevolve snapshot diff`, `snapshot rollback`, `knowledge export` and `import` as a person uses them."""

import json
from pathlib import Path

import pytest

from tests.test_command import call, words
from tests.test_exchange import CASES, line
from warehouse import log
from warehouse.analysis import query
from warehouse.snapshots import list_snapshots, published_snapshot

FIRST, SECOND = CASES[:2], CASES[2:]


def file_of(folder: Path, name: str, *cases) -> Path:  # type: ignore[no-untyped-def]
    path = folder / f"{name}.jsonl"
    path.write_bytes(b"".join(line(case) for case in cases))
    return path


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of two builds, each of which learnt two things."""
    root = tmp_path_factory.mktemp("snapshots")
    for build, cases in (("0001", FIRST), ("0002", SECOND)):
        file = file_of(root, build, *cases)
        result = call(root / "home", "knowledge", "import", str(file), "--build", build)
        assert result.exit_code == 0, result.output
        assert "2 of 2 entries accepted into build" in words(result)
    return root / "home"


@pytest.fixture
def home(learnt: Path, tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(learnt, tmp_path / "home"))


def test_a_diff_names_what_was_added_with_its_evidence(learnt: Path) -> None:
    result = call(learnt, "snapshot", "diff", "0001", "0002")

    assert result.exit_code == 0, result.output
    assert "2 added" in result.output
    assert max(map(len, result.output.splitlines())) <= 100
    for case in SECOND:
        assert case.candidate.entry_id[:8] in result.output
    assert FIRST[0].candidate.entry_id[:8] not in result.output


def test_a_diff_as_json_lists_the_feedback(learnt: Path) -> None:
    ids = [str(published_snapshot(learnt, build)) for build in ("0001", "0002")]
    result = call(learnt, "snapshot", "diff", ids[0][:10], ids[1], "--json")

    told = json.loads(result.output)
    assert [told["old"], told["new"]] == ids
    rows = {row["entry_id"]: row for row in told["entries"]}
    assert set(rows) == {case.candidate.entry_id for case in SECOND}
    for case in SECOND:
        row = rows[case.candidate.entry_id]
        assert row["change"] == "added"
        assert row["evidence_added"] == sorted(case.candidate.support)
        assert (row["confidence_before"], row["evidence_gone"], row["why"]) == (None, [], None)


def test_a_snapshot_is_named_by_id_or_build_and_a_wrong_name_is_one_line(learnt: Path) -> None:
    assert "nothing differs" in call(learnt, "snapshot", "diff", "0001", "0001").output
    result = call(learnt, "snapshot", "diff", "0001", "0009")
    assert result.exit_code == 2
    assert "`mineevolve snapshot list`" in words(result)


def test_a_rollback_sets_the_build_back_and_deletes_nothing(home: Path) -> None:
    before, after = (str(published_snapshot(home, build)) for build in ("0001", "0002"))
    files = set(home.rglob("*.parquet"))

    result = call(home, "snapshot", "rollback", "0002", "0001", "--yes")

    assert result.exit_code == 0, result.output
    assert f"Build 0002 publishes snapshot {before} now" in words(result)
    assert f"`mineevolve snapshot rollback 0002 {after}` takes it back" in words(result)
    assert published_snapshot(home, "0002") == before
    assert files < set(home.rglob("*.parquet"))
    assert {folder.name for folder in list_snapshots(home)} >= {before, after}
    status = query(home, "SELECT status, count(*) AS n FROM knowledge GROUP BY status ORDER BY status")
    assert status.rows() == [("active", 2), ("withdrawn", 2)]
    told = json.loads(call(home, "snapshot", "diff", after, "0002", "--json").output)
    assert [row["change"] for row in told["entries"]] == ["withdrawn", "withdrawn"]
    assert {row["why"] for row in told["entries"]} == {f"build 0002 was set back to snapshot {before}"}
    assert call(home, "snapshot", "verify").exit_code == 0
    doctor = call(home, "doctor")
    assert doctor.exit_code == 0, doctor.output
    assert "stale" not in doctor.output

    assert call(home, "snapshot", "rollback", "0002", after, "--yes").exit_code == 0
    assert published_snapshot(home, "0002") == after
    assert query(home, "SELECT DISTINCT status FROM knowledge").rows() == [("active",)]


def test_what_follows_from_another_generation_is_named(home: Path) -> None:
    before = str(published_snapshot(home, "0001"))
    file = file_of(home, "again", SECOND[0])
    assert call(home, "knowledge", "import", str(file), "--build", "0001").exit_code == 0
    behind = str(published_snapshot(home, "0002"))
    doctor = call(home, "doctor")
    assert doctor.exit_code == 0, doctor.output
    assert f"stale build 0002 publishes snapshot {behind}, and its knowledge is now" in words(doctor)

    result = call(home, "snapshot", "rollback", "0001", before, "--yes")

    assert result.exit_code == 0, result.output
    assert published_snapshot(home, "0001") == before
    # Build 0002 learns again what 0001 withdrew: the same entry, with a history that is a part of it.
    for said in (words(result), words(call(home, "doctor"))):
        assert "build 0001 publishes" not in said
        assert f"stale build 0002 publishes snapshot {behind}" in said


def test_a_rollback_names_what_follows_from_what_was_taken_back(home: Path) -> None:
    file = file_of(home, "third", CASES[0])
    assert call(home, "knowledge", "import", str(file), "--build", "0003").exit_code == 0

    result = call(home, "snapshot", "rollback", "0002", "0001", "--yes")

    assert "stale build 0003 publishes snapshot" in words(result)
    assert "stale build 0003 publishes snapshot" in words(call(home, "doctor"))


def test_what_a_later_build_learnt_is_not_handed_to_an_earlier_one(home: Path) -> None:
    result = call(home, "snapshot", "rollback", "0001", "0002", "--yes")

    assert result.exit_code == 2
    assert "learnt in build 0002, after build 0001" in words(result)


def test_a_rollback_asks_and_refuses_what_is_not_there(home: Path) -> None:
    before = published_snapshot(home, "0002")
    assert call(home, "snapshot", "rollback", "0002", "0001", typed="n\n").exit_code == 1
    assert published_snapshot(home, "0002") == before
    for arguments in (("0009", "0001"), ("0002", "ffff")):
        result = call(home, "snapshot", "rollback", *arguments, "--yes")
        assert result.exit_code == 2, arguments
        assert "Traceback" not in result.output


def test_what_is_exported_is_imported_elsewhere_as_the_same_snapshot(learnt: Path, tmp_path: Path) -> None:
    file = tmp_path / "knowledge.jsonl"
    assert call(learnt, "knowledge", "export", str(file)).exit_code == 0
    assert file.read_bytes().count(b"\n") == len(CASES)

    result = call(tmp_path / "other", "knowledge", "import", str(file), "--build", "0000")

    assert result.exit_code == 0, result.output
    assert "4 of 4 entries accepted into build 0000" in words(result)
    entries = query(tmp_path / "other", "SELECT entry_id, support_episodes FROM knowledge ORDER BY entry_id")
    assert (
        entries.rows() == query(learnt, "SELECT entry_id, support_episodes FROM knowledge ORDER BY 1").rows()
    )
    shown = call(tmp_path / "other", "knowledge", "list")
    assert "4 entries" in shown.output


def test_a_reviewer_is_asked_about_what_is_imported(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_bytes(line(CASES[0]))

    result = call(tmp_path / "home", "knowledge", "import", str(file), MINEEVOLVE_REVIEWER="rules")

    assert result.exit_code == 0, result.output
    assert log.read(tmp_path / "home", "reviews", ["0000"]).height == 1


def test_what_a_file_does_not_bear_out_is_shown_with_its_reason(tmp_path: Path) -> None:
    file = tmp_path / "bare.jsonl"
    file.write_bytes(line(CASES[0], evidence=[]) + line(CASES[2]))

    result = call(tmp_path / "home", "knowledge", "import", str(file))

    assert result.exit_code == 0, result.output
    assert "1 of 2 entries accepted" in words(result)
    assert "unsupported: cites no feedback" in words(result)


def test_a_folder_gets_a_skill_file_for_each_entry(learnt: Path, tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    result = call(learnt, "knowledge", "export", str(folder), "--snapshot", "0001")

    assert result.exit_code == 0, result.output
    files = sorted(folder.glob("*/SKILL.md"))
    assert len(files) == len(FIRST)
    assert all(file.read_text().startswith(f"---\nname: {file.parent.name}\n") for file in files)
    again = call(learnt, "knowledge", "export", str(folder))
    assert again.exit_code == 2
    assert "there already" in words(again)


def test_a_broken_file_ends_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_bytes(b"{}\n")
    result = call(tmp_path / "home", "knowledge", "import", str(file))
    assert result.exit_code == 2
    assert "line 1: format" in words(result) or "line 1: entry_id" in words(result)
    assert call(tmp_path / "home", "knowledge", "import", str(tmp_path / "none.jsonl")).exit_code == 2
    assert call(tmp_path / "home", "knowledge", "export", str(tmp_path / "x.jsonl")).exit_code == 2
