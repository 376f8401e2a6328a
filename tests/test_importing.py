"""Finding the importer of a folder and holding what it reads against the contract."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from assets.imported_trajectories import replaced
from rollouts.ingest.importing import MOST_CHILDREN, SameNameError, discover, discover_all, import_source
from rollouts.ingest.protocol import Importer, Recording
from rollouts.ingest.registry import UnknownFormatError
from tests.tick_files import vpt_line, write_lines
from tests.voyager_files import event, write_run
from warehouse.domains import Domain
from warehouse.trace_store import trace_store

LOOK = [event("observe", 40)]


@dataclass
class Spoilt:
    """An importer whose recordings are changed on their way out."""

    importer: Importer
    spoil: Callable[[Recording], None]
    name: str = "vpt"

    def recognises(self, folder: Path) -> bool:
        return True

    def read(self, folder: Path, build: str, domain: Domain) -> Iterator[Recording]:
        for recording in self.importer.read(folder, build, domain):
            if recording.episodes:
                self.spoil(recording)
            yield recording


def test_a_folder_is_recognised_by_its_content(tmp_path: Path) -> None:
    write_run(tmp_path / "whatever", {"Kill_1_cow._20240101_000000": LOOK})
    (source,) = discover(tmp_path / "whatever")
    assert (source.name, source.importer.name) == ("whatever", "voyager")


def test_children_of_different_formats_are_sources_of_their_own(tmp_path: Path) -> None:
    write_run(tmp_path / "a", {"Kill_1_cow._20240101_000000": LOOK})
    rollout = tmp_path / "b" / "run_mine_block.dirt"
    rollout.mkdir(parents=True)
    (rollout / "action.jsonl").write_text('{"attack": 0, "camera": [0.0, 0.0]}\n')
    (rollout / "info.jsonl").write_text(
        '{"is_gui_open": false, "location_stats": {"xpos": 0.0, "ypos": 1.0, "zpos": 2.0}, "inventory": {}}\n'
    )
    assert [(one.name, one.importer.name) for one in discover(tmp_path)] == [
        ("a", "voyager"),
        ("b", "minestudio"),
    ]


def test_a_wrong_path_and_an_unknown_format_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="give the folder that holds the recordings"):
        discover(tmp_path / "nowhere")
    with pytest.raises(UnknownFormatError, match="--format"):
        discover(tmp_path)
    with pytest.raises(UnknownFormatError, match="voyager"):
        discover(tmp_path, "voyagr")


def test_rows_that_break_the_contract_are_quarantined_and_the_rest_is_kept(
    tmp_path: Path, minecraft: Domain
) -> None:
    bad = event("observe", 40)
    bad[1]["status"]["position"] = {"x": "far", "y": 1, "z": 2}
    folder = write_run(tmp_path, {"Kill_1_cow._20240101_000000": [event("onChat", 20, "hi"), bad]})
    imported = import_source(discover(folder)[0], "b0", minecraft)
    assert imported.counts()["attempts"] == 1
    assert imported.frames["ticks"]["x"].to_list() == [0.5, None]


def test_a_row_of_nothing_is_put_aside(tmp_path: Path, minecraft: Domain) -> None:
    folder = write_run(tmp_path, {"Kill_1_cow._20240101_000000": LOOK})
    source = discover(folder)[0]

    class Broken:
        name = "voyager"

        def recognises(self, folder: Path) -> bool:
            return True

        def read(self, folder: Path, build: str, domain: Domain):  # type: ignore[no-untyped-def]
            for recording in source.importer.read(folder, build, domain):
                for row in recording.attempts:
                    row["needed"] = 0  # the contract asks for at least 1
                yield recording

    imported = import_source(source._replace(importer=Broken()), "b0", minecraft)
    assert imported.counts()["attempts"] == 0
    assert imported.counts()["episodes"] == 1
    reasons = imported.frames["quarantine"]["reason"].to_list()
    assert any("attempts: 1 rows break needed" in reason for reason in reasons)
    assert any("events: 1 rows belong to nothing that was kept" in reason for reason in reasons)


def test_broken_rows_are_told_with_their_own_file(tmp_path: Path, minecraft: Domain) -> None:
    folder = tmp_path / "logs"
    write_lines(folder / "a.jsonl", [vpt_line(0), vpt_line(1)])
    write_lines(folder / "b.jsonl", [vpt_line(0)])
    source = discover(folder)[0]

    def spoil(recording: Recording) -> None:
        if recording.attempts[0]["source"] == "a.jsonl":
            recording.data_quality.append(
                {
                    "episode_id": recording.episodes[0]["episode_id"],
                    "attempt": 0,
                    "tick": -1,
                    "finding": "time_backwards",
                    "detail": "",
                }
            )

    imported = import_source(source._replace(importer=Spoilt(source.importer, spoil)), "b0", minecraft)
    assert imported.frames["quarantine"].select("path", "source", "reason").rows() == [
        ("a.jsonl", "vpt", "data_quality: 1 rows break tick|min")
    ]
    assert imported.counts()["episodes"] == 2


@pytest.mark.parametrize("value", [1e30, 2**40, float("inf"), "many", 10**30])
def test_a_value_that_fits_no_table_costs_its_row_and_not_the_run(
    tmp_path: Path, minecraft: Domain, value: object
) -> None:
    folder = tmp_path / "logs"
    write_lines(folder / "a.jsonl", [vpt_line(0), vpt_line(1)])
    write_lines(folder / "b.jsonl", [vpt_line(0)])
    source = discover(folder)[0]

    def spoil(recording: Recording) -> None:
        if recording.attempts and recording.attempts[0]["source"] == "a.jsonl":
            recording.attempts[0]["gained"] = value

    imported = import_source(source._replace(importer=Spoilt(source.importer, spoil)), "b0", minecraft)
    assert imported.frames["attempts"]["source"].to_list() == ["b.jsonl"]
    told = imported.frames["quarantine"].select("path", "reason").rows()
    assert {path for path, _ in told} == {"a.jsonl"}
    assert any(reason.startswith("attempts: a row that fits no table") for _, reason in told)
    assert any(reason == "ticks: 2 rows belong to nothing that was kept" for _, reason in told)


def test_an_importer_that_fails_ends_its_source_and_not_the_run(tmp_path: Path, minecraft: Domain) -> None:
    write_lines(tmp_path / "a.jsonl", [vpt_line(0)])
    source = discover(tmp_path)[0]

    def spoil(recording: Recording) -> None:
        raise ZeroDivisionError("of nobody's thought")

    imported = import_source(source._replace(importer=Spoilt(source.importer, spoil)), "b0", minecraft)
    (reason,) = imported.frames["quarantine"]["reason"].to_list()
    assert reason.endswith("ZeroDivisionError: of nobody's thought")


def mixed(folder: Path) -> Path:
    write_run(folder / "a", {"Kill_1_cow._20240101_000000": LOOK})
    write_lines(folder / "b" / "p.jsonl", [vpt_line(0)])
    return folder


def test_what_belongs_to_no_source_of_a_mixed_folder_is_listed(tmp_path: Path, minecraft: Domain) -> None:
    folder = mixed(tmp_path / "mix")
    (folder / "junk" / "deep").mkdir(parents=True)
    (folder / "junk" / "deep" / "x.bin").write_bytes(b"\0")
    (folder / "loose.jsonl").write_text("{}")
    (folder / "README.md").write_text("read me")
    (folder / "again").symlink_to(folder)
    names = [(source.name, source.importer.name) for source in discover(folder)]
    assert names == [("a", "voyager"), ("b", "vpt"), ("mix (left over)", "unrecognised")]
    imported = import_source(discover(folder)[-1], "b0", minecraft)
    assert imported.counts()["episodes"] == 0
    assert imported.frames["quarantine"].select("path", "severity", "reason").rows() == [
        ("README.md", "ignored", "known side file"),
        ("again", "quarantined", "a link to a folder, which is not followed"),
        ("junk/deep/x.bin", "quarantined", "another format"),
        ("loose.jsonl", "quarantined", "another format"),
    ]


def test_more_folders_than_are_looked_into_are_refused_and_not_cut(tmp_path: Path) -> None:
    for number in range(MOST_CHILDREN + 1):
        (tmp_path / f"{number}").mkdir()
    write_lines(tmp_path / "999" / "p.jsonl", [vpt_line(0)])
    with pytest.raises(UnknownFormatError, match=r"1001 folders.*--format"):
        discover(tmp_path)
    assert discover(tmp_path, "vpt")


def test_two_folders_of_one_name_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    one = write_run(tmp_path / "x" / "logs", {"Kill_1_cow._20240101_000000": LOOK})
    two = write_run(tmp_path / "y" / "logs", {"Kill_1_pig._20240101_000000": LOOK})
    with pytest.raises(SameNameError, match=r"x/logs and .*y/logs.*Rename one"):
        discover_all([one, two])
    assert [source.name for source in discover_all([one, tmp_path / "x" / ".." / "x" / "logs"])] == ["logs"]


def test_a_folder_keeps_its_name_whatever_is_imported_with_it(tmp_path: Path) -> None:
    one = write_run(tmp_path / "x" / "logs", {"Kill_1_cow._20240101_000000": LOOK})
    two = write_run(tmp_path / "y" / "other", {"Kill_1_pig._20240101_000000": LOOK})
    assert discover_all([two, one])[1] == discover_all([one])[0]


def test_a_file_name_with_a_stray_byte_is_shown_by_that_byte(tmp_path: Path, minecraft: Domain) -> None:
    write_lines(tmp_path / os.fsdecode(b"\xff.jsonl"), [vpt_line(0)])
    imported = import_source(discover(tmp_path)[0], "b0", minecraft)
    assert imported.frames["attempts"]["source"].to_list() == ["\\xff.jsonl"]


def test_a_folder_that_takes_anothers_place_in_the_store_is_noticed(
    tmp_path: Path, minecraft: Domain
) -> None:
    one = write_run(tmp_path / "x" / "logs", {"Kill_1_cow._20240101_000000": LOOK})
    two = write_run(tmp_path / "y" / "logs", {"Kill_1_pig._20240101_000000": LOOK})
    first, other = (import_source(discover(folder)[0], "b0", minecraft) for folder in (one, two))
    store = trace_store(tmp_path / "home")
    assert replaced(store, "b0", "imported", first) == 0
    store.write_source("b0", "imported", "logs", first.frames)
    assert replaced(store, "b0", "imported", first) == 0
    assert replaced(store, "b0", "imported", other) == 1
