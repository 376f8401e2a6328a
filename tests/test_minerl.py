"""MineRL data set folders."""

import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rollouts.ingest import minerl_arrays
from rollouts.ingest.minerl import MineRLImporter
from rollouts.ingest.minerl_arrays import load_arrays
from tests.tick_files import Tables, read_checked, write_minerl
from warehouse.domains import Domain

IMPORTER = MineRLImporter()
DONE = {"success": True, "duration_steps": 3, "total_reward": 64.0, "stream_name": "v3_some_player"}


def load(folder: Path, domain: Domain) -> Tables:
    return read_checked(IMPORTER, folder, domain)


def test_a_diamond_hunt_of_the_old_data_set(tmp_path: Path, minecraft: Domain) -> None:
    write_minerl(
        tmp_path / "MineRLObtainIronPickaxe-v0" / "v3_some_player",
        DONE,
        reward=[0.0, 0.0, 256.0],
        observation__inventory__iron_ingot=[3, 3, 3, 0],
        observation__inventory__iron_pickaxe=[0, 0, 0, 1],
        **{"observation__equipped_items.mainhand.type": ["air", "none", "stone_axe", "other"]},
        action__forward=[1, 0, 0],
        action__camera=[[0.0, 0.0], [1.5, 0.0], [0.0, 0.0]],
        action__nearbyCraft=["none", "none", "iron_pickaxe"],
    )
    assert IMPORTER.recognises(tmp_path)
    tables = load(tmp_path, minecraft)
    attempt = tables["attempts"].row(0, named=True)
    assert (attempt["kind"], attempt["target"], attempt["needed"]) == ("craft", "iron_pickaxe", 1)
    assert (attempt["success"], attempt["gained"]) == (True, 1)
    assert (attempt["label"], attempt["label_basis"]) == (True, "exact")
    assert attempt["condition"] == "obtain iron pickaxe"
    assert tables["ticks"]["action"].to_list() == ["forward", "camera", "nearbyCraft:iron_pickaxe", None]
    assert tables["ticks"]["equipped"].to_list() == ["none", "none", "stone_axe", "other"]
    assert tables["ticks"]["x"].null_count() == 4
    episode = tables["episodes"].row(0, named=True)
    assert episode["observes"] == ["inventory", "equipped", "actions"]
    assert (episode["success_tick"], episode["end_reason"]) == (3, "success")
    assert tables["events"].select("tick", "kind", "name", "text").rows() == [(3, "game", "reward", "256")]


def test_the_old_word_for_logs_is_every_log(tmp_path: Path, minecraft: Domain) -> None:
    folder = tmp_path / "MineRLTreechop-v0" / "v3_x"
    write_minerl(folder, {"success": True}, observation__inventory__log=[0, 63, 64], action__attack=[1, 1])
    attempt = load(tmp_path, minecraft)["attempts"].row(0, named=True)
    assert (attempt["kind"], attempt["needed"], attempt["gained"]) == ("mine", 64, 64)
    assert attempt["success"] is True


def test_a_target_that_the_data_set_does_not_list_leaves_success_open(
    tmp_path: Path, minecraft: Domain
) -> None:
    folder = tmp_path / "MineRLObtainDiamondDense-v0" / "v3_x"
    write_minerl(folder, {"success": False}, observation__inventory__dirt=[0, 1], action__attack=[1])
    attempt = load(tmp_path, minecraft)["attempts"].row(0, named=True)
    assert attempt["target"] is not None
    assert (attempt["success"], attempt["label"]) == (None, False)
    folder = tmp_path / "MineRLObtainDiamondDense-v0" / "v3_y"
    write_minerl(folder, None, observation__inventory__diamond=[0, 0], action__attack=[1])
    attempts = load(tmp_path, minecraft)["attempts"]
    assert attempts.filter(pl.col("source").str.contains("v3_y"))["success"].to_list() == [False]


def test_tasks_without_a_target_keep_their_words(tmp_path: Path, minecraft: Domain) -> None:
    for name in ("MineRLNavigateExtremeDense-v0", "MineRLBasaltFindCave-v0", "MineRLSomething-v7", "other"):
        write_minerl(tmp_path / name / "v3_x", {}, action__jump=[1])
    attempts = load(tmp_path, minecraft)["attempts"].select("source", "condition", "kind", "target").rows()
    assert sorted(attempts) == [
        ("MineRLBasaltFindCave-v0/v3_x/rendered.npz", "find a cave", "move", None),
        ("MineRLNavigateExtremeDense-v0/v3_x/rendered.npz", "go to the compass target", "move", None),
        ("MineRLSomething-v7/v3_x/rendered.npz", "something", None, None),
        ("other/v3_x/rendered.npz", None, None, None),
    ]


def test_positions_and_vitals_are_read_where_the_data_set_has_them(tmp_path: Path, minecraft: Domain) -> None:
    write_minerl(
        tmp_path / "a",
        {},
        observation__location_stats__xpos=[1.0, np.nan, 3.0],
        observation__life_stats__life=[20.0, 0.0, 20.0],
        observation__isGuiOpen=[False, True, False],
        action__attack=[0, 0],
    )
    tables = load(tmp_path, minecraft)
    assert tables["ticks"]["x"].to_list() == [1.0, None, 3.0]
    assert tables["ticks"]["alive"].to_list() == [True, False, True]
    assert tables["ticks"]["gui"].to_list() == ["none", "other", "none"]
    assert tables["ticks"]["action"].to_list() == ["noop", "noop", None]
    assert tables["events"]["signal"].to_list() == ["died"]
    assert tables["data_quality"]["finding"].to_list() == ["runs_on_after_end"]


def test_steps_after_the_declared_last_are_told(tmp_path: Path, minecraft: Domain) -> None:
    write_minerl(tmp_path, {"duration_steps": 2}, action__jump=[1] * 5, observation__inventory__dirt=[0] * 6)
    (finding,) = load(tmp_path, minecraft)["data_quality"].rows(named=True)
    assert (finding["finding"], finding["tick"]) == ("runs_on_after_end", 3)


def test_a_pickled_array_is_refused_and_the_others_are_kept(tmp_path: Path, minecraft: Domain) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "sprung",))

    trap = np.array([Trap()], dtype=object)
    write_minerl(tmp_path, {}, observation__inventory__dirt=[0, 1], action__trap=trap)
    tables = load(tmp_path, minecraft)
    assert not (tmp_path / "sprung").exists()
    assert tables["attempts"].height == 1
    (row,) = tables["quarantine"].rows(named=True)
    assert "action$trap" in row["reason"]
    assert row["kept"] == 1


def test_files_without_steps_are_told(tmp_path: Path, minecraft: Domain) -> None:
    for name, content in (("a", b""), ("b", b"PK\x03\x04 broken"), ("c", b"no archive")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rendered.npz").write_bytes(content)
    write_minerl(tmp_path / "d", {}, something=[1, 2])
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "metadata.json").write_text("{}")
    (tmp_path / "d" / "metadata.json").write_text("{")
    tables = load(tmp_path, minecraft)
    assert tables["episodes"].is_empty()
    told = tables["quarantine"].select("path", "reason").rows()
    assert ("a/rendered.npz", "empty file") in told
    assert ("d/rendered.npz", "another format: no observation and no action in it") in told
    assert {path for path, _ in told} >= {
        "b/rendered.npz",
        "c/rendered.npz",
        "d/metadata.json",
        "e/metadata.json",
    }


def test_a_coded_choice_is_written_by_its_number(tmp_path: Path, minecraft: Domain) -> None:
    write_minerl(tmp_path, {}, action__craft=[0, 3, 1], action__jump=[0, 1, 0])
    assert load(tmp_path, minecraft)["ticks"]["action"].to_list() == ["noop", "craft:3+jump", "craft:1"]


@pytest.mark.parametrize("values", [[], [[[1.0]]], ["x"], [True], [2**70], [np.inf]])
def test_odd_arrays_are_read_or_left_out(tmp_path: Path, minecraft: Domain, values: list[Any]) -> None:
    array = np.asarray(values, dtype=np.float64) if values == [2**70] else values
    for name in ("reward", "observation__inventory__dirt", "action__jump", "observation__life_stats__life"):
        write_minerl(tmp_path, {}, action__attack=[1, 0], **{name: array})
        load(tmp_path, minecraft)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_bytes_make_the_importer_raise(tmp_path: Path, minecraft: Domain, data: st.DataObject) -> None:
    write_minerl(tmp_path, {}, observation__inventory__dirt=[0, 1], action__craft=["none"], reward=[1.0])
    path = tmp_path / "rendered.npz"
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    (tmp_path / "metadata.json").write_bytes(data.draw(st.binary(max_size=40)))
    IMPORTER.recognises(tmp_path)
    load_arrays(path)
    reasons = load(tmp_path, minecraft)["quarantine"]["reason"]
    assert not reasons.str.contains("the importer failed|fits no table").any(), reasons.to_list()


def pickaxe(tmp_path: Path, minecraft: Domain, **arrays: Any) -> Tables:
    folder = tmp_path / "MineRLObtainIronPickaxe-v0" / "v3_x"
    write_minerl(folder, {}, action__attack=[1] * 29, **arrays)
    return load(tmp_path, minecraft)


def told(tables: Tables) -> list[str]:
    return tables["quarantine"]["reason"].to_list()


def test_a_short_array_is_left_out_and_the_others_are_read_whole(tmp_path: Path, minecraft: Domain) -> None:
    tables = pickaxe(
        tmp_path,
        minecraft,
        observation__inventory__iron_pickaxe=[0] * 20 + [1] * 10,
        observation__inventory__oak_log=[2] * 5,
    )
    attempt = tables["attempts"].row(0, named=True)
    assert (attempt["success"], attempt["gained"]) == (True, 1)
    assert told(tables) == ["observation inventory$oak_log: 5 of 30 steps"]
    assert attempt["state_after"]["inventory"] == [{"name": "iron_pickaxe", "count": 1}]


def test_a_target_whose_array_is_short_leaves_success_open(tmp_path: Path, minecraft: Domain) -> None:
    tables = pickaxe(
        tmp_path,
        minecraft,
        observation__inventory__iron_pickaxe=[0] * 5,
        observation__inventory__oak_log=[2] * 30,
    )
    assert tables["attempts"]["success"].to_list() == [None]


@pytest.mark.parametrize("bad", [np.nan, -3.0, 1.5, 1e30, np.inf])
def test_a_count_that_cannot_be_read_is_no_zero(tmp_path: Path, minecraft: Domain, bad: float) -> None:
    tables = pickaxe(
        tmp_path, minecraft, observation__inventory__iron_pickaxe=[bad] * 10 + [1.0] * 10 + [bad] + [1.0] * 9
    )
    attempt = tables["attempts"].row(0, named=True)
    assert (attempt["success"], attempt["gained"]) == (False, 0)
    assert attempt["state_before"]["inventory"] is None
    assert tables["inventory_changes"].is_empty()
    assert told(tables) == [
        "observation inventory$iron_pickaxe: cannot be read 11 times, taken as unknown there; "
        "the first at step 0"
    ]


@pytest.mark.parametrize(
    "array",
    [np.zeros((30, 2)), np.zeros(30, complex), np.zeros(30, "datetime64[s]"), np.array(["1"] * 30)],
    ids=["2-d", "complex", "datetime", "text"],
)
def test_an_array_that_has_not_one_number_a_step_is_told(
    tmp_path: Path, minecraft: Domain, array: Any
) -> None:
    tables = pickaxe(
        tmp_path,
        minecraft,
        observation__inventory__oak_log=array,
        observation__inventory__iron_pickaxe=[0] * 29 + [1],
    )
    assert tables["attempts"]["success"].to_list() == [True]
    (reason,) = told(tables)
    assert reason.startswith("observation inventory$oak_log: not one number a step")


def test_other_values_that_cannot_be_read_are_told_too(tmp_path: Path, minecraft: Domain) -> None:
    tables = pickaxe(
        tmp_path,
        minecraft,
        observation__location_stats__xpos=[1.0, np.nan, 1e300] + [1.0] * 27,
        action__camera=[[np.nan, 0.0]] * 29,
        reward=[np.nan] + [0.0] * 28,
    )
    assert tables["ticks"]["x"].null_count() == 2
    assert [reason.partition(",")[0] for reason in sorted(told(tables))] == [
        "action camera: cannot be read 29 times",
        "observation location_stats$xpos: cannot be read 2 times",
        "reward: cannot be read once",
    ]


def test_an_item_of_which_nothing_can_be_read_hides_no_other(tmp_path: Path, minecraft: Domain) -> None:
    tables = pickaxe(
        tmp_path,
        minecraft,
        observation__inventory__iron_pickaxe=[0] * 29 + [1],
        observation__inventory__oak_log=np.full(30, 2**64 - 1, np.uint64),
        action__odd=np.zeros(29, dtype=[("a", int)]),
    )
    assert tables["attempts"]["success"].to_list() == [True]
    assert [reason.partition(":")[0] for reason in told(tables)] == [
        "action odd",
        "observation inventory$oak_log",
    ]


def npy(array: np.ndarray[Any, Any]) -> bytes:
    written = io.BytesIO()
    np.save(written, array, allow_pickle=False)
    return written.getvalue()


def archive(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in members.items():
            written.writestr(f"{name}.npy", content)
    return path


@pytest.mark.parametrize("shape", ["(1000000000000,)", "(100000000000, 0)"])
def test_an_array_that_says_it_is_larger_than_its_bytes_is_refused_unread(tmp_path: Path, shape: str) -> None:
    head = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    lie = struct.pack("<8sH", b"\x93NUMPY\x01\x00", len(head)) + head.encode()
    loaded = load_arrays(archive(tmp_path / "x.npz", big=lie, small=npy(np.array([1, 2]))))
    assert list(loaded.arrays) == ["small"]
    (fault,) = loaded.faults
    assert fault.startswith("big: ")
    assert f"says that it has the shape {shape}" in fault


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(("code", "kept"), [(0x10FFFF, True), (0x110000, False), (0xD800, False)])
def test_text_of_characters_that_there_are_not_is_refused(
    tmp_path: Path, order: str, code: int, kept: bool
) -> None:
    content = npy(np.array(["air", "?"], f"{order}U3"))
    letter, other = (np.array(one, f"{order}u4").tobytes() for one in (ord("?"), code))
    loaded = load_arrays(archive(tmp_path / "x.npz", words=content.replace(letter, other)))
    if kept:
        assert loaded.arrays["words"].tolist() == ["air", chr(code)]
    else:
        assert not loaded.arrays
        assert "characters that there are not" in loaded.faults[0]


def test_a_small_archive_cannot_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minerl_arrays, "LARGEST_ARCHIVE", 1_000_000)
    zeros = npy(np.zeros(100_000, np.int64))
    path = archive(tmp_path / "x.npz", a=zeros, b=zeros, c=npy(np.array([1])))
    assert path.stat().st_size < 10_000
    loaded = load_arrays(path)
    assert list(loaded.arrays) == ["a", "c"], "what still has its place is read"
    assert loaded.faults == ["b: not read, the arrays have more than 1000000 bytes"]


def test_an_archive_of_endless_arrays_is_read_up_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minerl_arrays, "MOST_ARRAYS", 2)
    loaded = load_arrays(archive(tmp_path / "x.npz", **dict.fromkeys("dcba", npy(np.array([1])))))
    assert (list(loaded.arrays), loaded.faults) == (["a", "b"], ["4 arrays, of which the first 2 are read"])
