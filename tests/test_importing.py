"""Finding the importer of a folder and holding what it reads against the contract."""

from pathlib import Path

import pytest

from rollouts.ingest.importing import discover, import_source
from rollouts.ingest.registry import UnknownFormatError
from tests.voyager_files import event, write_run
from warehouse.domains import Domain

LOOK = [event("observe", 40)]


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
