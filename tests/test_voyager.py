"""Voyager folders: attempts, baselines, claims, labels, and input that is broken."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollouts.ingest.protocol import merge
from rollouts.ingest.voyager import VoyagerImporter
from rollouts.trace import Trace
from tests.voyager_files import event, write_run
from warehouse.domains import Domain, load_domain
from warehouse.records import TABLES

LOGS = {"oak_log": 3}


def imported(folder: Path, domain: Domain) -> dict[str, pl.DataFrame]:
    return merge(VoyagerImporter().read(folder, "b0", domain))


def only(frames: dict[str, pl.DataFrame], table: str = "attempts") -> dict[str, Any]:
    rows = frames[table].rows(named=True)
    assert len(rows) == 1
    return rows[0]


def test_a_gain_over_the_baseline_is_the_success_and_a_claim_is_not(
    tmp_path: Path, minecraft: Domain
) -> None:
    folder = write_run(
        tmp_path,
        {
            "Mine_2_oak_logs_20240101_000000": [
                event("onChat", 20, "Explore success.", LOGS),
                event("onChat", 90, "Mined 2 oak logs.", LOGS),
                event("observe", 110, None, LOGS),
            ],
            "Mine_2_oak_logs_20240101_000100": [
                event("onChat", 20, "Explore success.", LOGS),
                event("onChat", 90, "Collect finish!", {"oak_log": 5}),
                event("observe", 110, None, {"oak_log": 5}),
            ],
        },
    )
    first, second = imported(folder, minecraft)["attempts"].rows(named=True)
    assert (first["success"], first["claimed"], first["gained"]) == (False, True, 0)
    assert (second["success"], second["claimed"], second["gained"]) == (True, False, 2)
    assert first["episode_id"] == second["episode_id"]
    assert (first["start_tick"], first["end_tick"]) == (0, 110)
    assert (second["start_tick"], second["end_tick"]) == (110, 220)


def test_a_result_that_a_later_observation_lacks_still_counts(tmp_path: Path, minecraft: Domain) -> None:
    folder = write_run(
        tmp_path,
        {
            "Craft_4_oak_planks_20240101_000000": [
                event("onChat", 20, "I can make oak_planks", {"oak_log": 2}),
                event(
                    "onChat", 23, "I did the recipe for oak_planks 1 times", {"oak_log": 1, "oak_planks": 4}
                ),
                event("observe", 43, None, {"oak_log": 1}),
            ]
        },
    )
    frames = imported(folder, minecraft)
    assert only(frames)["success"] is True
    assert only(frames, "data_quality")["finding"] == "result_vanished"


def test_a_number_that_flickers_up_while_nothing_yields_it_does_not_count(
    tmp_path: Path, minecraft: Domain
) -> None:
    folder = write_run(
        tmp_path,
        {
            "Mine_5_oak_logs_20240101_000000": [
                event("onChat", 20, "I can make oak_planks", {"oak_log": 2}),
                event(
                    "onChat", 23, "I did the recipe for oak_planks 1 times", {"oak_log": 40, "oak_planks": 4}
                ),
                event("observe", 43, None, {"oak_log": 1, "oak_planks": 4}),
            ]
        },
    )
    assert only(imported(folder, minecraft))["success"] is False


def test_what_changed_between_two_files_is_no_gain(tmp_path: Path, minecraft: Domain) -> None:
    folder = write_run(
        tmp_path,
        {
            "Mine_1_dirt_block_20240101_000000": [event("observe", 40, None, {})],
            "Kill_1_pig._20240102_000000": [
                event("onChat", 20, "Pig found.", {"porkchop": 3}),
                event("observe", 40, None, {"porkchop": 3}),
            ],
        },
    )
    frames = imported(folder, minecraft)
    pig = frames["attempts"].filter(pl.col("kind") == "combat").row(0, named=True)
    assert (pig["success"], pig["gained"]) == (False, 0)
    assert "state_changed_between_files" in frames["data_quality"]["finding"].to_list()


def test_items_that_only_lagged_behind_are_no_gain(tmp_path: Path, minecraft: Domain) -> None:
    folder = write_run(
        tmp_path,
        {
            "Craft_4_oak_planks_20240101_000000": [
                event("onChat", 20, "I can make oak_planks", {"oak_log": 9, "oak_planks": 41}),
                event("onChat", 23, "I did the recipe for oak_planks 1 times", {"oak_planks": 45}),
                event("observe", 43, None, {}),
            ],
            "Craft_4_oak_planks_20240101_000100": [
                event("onChat", 20, "Placing crafting_table on dirt at (1, 2, 3)", {}),
                event("onChat", 39, "Placed crafting_table", {"oak_planks": 45}),
                event("observe", 59, None, {"oak_planks": 45}),
            ],
        },
    )
    second = imported(folder, minecraft)["attempts"].row(1, named=True)
    assert (second["success"], second["gained"]) == (False, 0)


@pytest.mark.parametrize(
    ("task", "kind", "target", "needed"),
    [
        ("Mine_3_coal_ores", "mine", "coal_ore", 3),
        ("Craft_an_iron_axe", "craft", "iron_axe", 1),
        ("Smelt_1_raw_iron", "smelt", "iron_ingot", 1),
        ("Kill_1_cow.", "combat", "cow", 1),
        ("Obtain_2_birch_logs", "mine", "birch_log", 2),
        ("Mine_1_wood_log", "mine", "#logs", 1),
        ("Place_a_chest", "use", "chest", 1),
        ("Deposit_useless_items_into_the_chest_at_(33,_67,_-490)", "use", None, None),
        ("Ponder_existence", None, None, None),
    ],
)
def test_the_task_is_read_from_the_file_name(
    tmp_path: Path, minecraft: Domain, task: str, kind: str | None, target: str | None, needed: int | None
) -> None:
    folder = write_run(tmp_path, {f"{task}_20240101_000000": [event("observe", 40)]})
    row = only(imported(folder, minecraft))
    assert (row["kind"], row["target"], row["needed"]) == (kind, target, needed)
    assert row["condition"] == task.replace("_", " ").removesuffix(".")
    if target is None:
        assert row["success"] is None


def test_labels_are_exact_only_where_they_single_out_the_attempt(tmp_path: Path, minecraft: Domain) -> None:
    look = [event("observe", 40)]
    folder = write_run(
        tmp_path,
        {
            "Mine_1_dirt_block_20240101_000000": look,
            "Mine_2_oak_logs_20240101_000100": look,
            "Mine_2_oak_logs_20240101_000200": look,
            "Kill_1_cow._20240101_000300": look,
            "Kill_1_pig._20240101_000400": look,
        },
        {
            "completed": ["Mine 1 dirt block", "Kill 1 pig"],
            "failed": ["Mine 2 oak logs", "Kill 1 cow.", "Kill 1 pig"],
        },
    )
    labels = {
        (row["condition"], row["attempt"]): (row["label"], row["label_basis"])
        for row in imported(folder, minecraft)["attempts"].rows(named=True)
    }
    assert labels == {
        ("Mine 1 dirt block", 0): (True, "exact"),
        ("Mine 2 oak logs", 0): (False, "task_text"),
        ("Mine 2 oak logs", 1): (False, "task_text"),
        ("Kill 1 cow", 0): (False, "exact"),
        ("Kill 1 pig", 0): (None, None),
    }


def test_a_folder_without_curriculum_has_no_labels(tmp_path: Path, minecraft: Domain) -> None:
    frames = imported(write_run(tmp_path, {"Kill_1_cow._20240101_000300": [event("observe", 40)]}), minecraft)
    assert only(frames)["label"] is None
    assert frames["quarantine"].is_empty()


def test_a_file_without_events_is_an_attempt_that_the_infrastructure_ended(
    tmp_path: Path, minecraft: Domain
) -> None:
    row = only(imported(write_run(tmp_path, {"Kill_1_cow._20240101_000300": []}), minecraft))
    assert (row["end_reason"], row["success"], row["claimed"]) == ("infrastructure", None, None)


def test_a_truncated_file_keeps_what_is_readable_and_names_the_byte(
    tmp_path: Path, minecraft: Domain
) -> None:
    whole = json.dumps([event("onChat", 20, "Explore success.", LOGS), event("observe", 40, None, LOGS)])
    cut = whole[: whole.index('"observe"') + 60].encode()
    frames = imported(write_run(tmp_path, {"Mine_2_oak_logs_20240101_000000": cut}), minecraft)
    row = only(frames)
    assert row["success"] is None  # the rest of the attempt is lost, so it cannot be called a failure
    assert frames["events"].height == 1
    bad = only(frames, "quarantine")
    assert bad["severity"] == "quarantined"
    assert "truncated" in bad["reason"]
    assert bad["position"] == whole.index('["observe"')
    assert bad["kept"] == 1
    assert bad["size"] == len(cut)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty file"),
        (b'{"not": "events"}', "another format: not a JSON list"),
        (b"\x89PNG\r\n\x1a\n", "another format: not a JSON list"),
        (b"[[", "truncated"),
    ],
)
def test_a_file_with_nothing_readable_is_quarantined_and_gives_no_attempt(
    tmp_path: Path, minecraft: Domain, content: bytes, reason: str
) -> None:
    folder = write_run(
        tmp_path,
        {"Kill_1_cow._20240101_000000": content, "Kill_1_pig._20240101_000100": [event("observe", 40)]},
    )
    frames = imported(folder, minecraft)
    assert only(frames)["condition"] == "Kill 1 pig"
    bad = only(frames, "quarantine")
    assert reason in bad["reason"]
    assert bad["path"].endswith("Kill_1_cow._20240101_000000")


def test_the_readable_half_of_a_half_foreign_file_is_kept(tmp_path: Path, minecraft: Domain) -> None:
    mixed = [event("onChat", 20, "hi"), {"foreign": 1}, ["onChat"], ["observe", {}], event("observe", 40)]
    frames = imported(write_run(tmp_path, {"Kill_1_cow._20240101_000000": mixed}), minecraft)
    assert frames["events"].height == 2
    assert frames["quarantine"].height == 3
    text = json.dumps(mixed)
    assert frames["quarantine"]["position"].to_list()[0] == text.index('{"foreign"')


def test_a_control_character_in_a_file_name_is_escaped_and_is_not_part_of_the_task(
    tmp_path: Path, minecraft: Domain
) -> None:
    folder = write_run(tmp_path, {"\x1bKill_1_cow._20240101_000000": [event("observe", 40)]})
    row = only(imported(folder, minecraft))
    assert row["condition"] == "Kill 1 cow"
    assert "\\x1bKill" in row["source"]


def test_files_of_other_kinds_are_listed_and_known_side_files_are_called_ignored(
    tmp_path: Path, minecraft: Domain
) -> None:
    folder = write_run(
        tmp_path, {"Kill_1_cow._20240101_000000": [event("observe", 40)], "notes.txt": b"hello"}
    )
    (folder / "LICENSE").write_text("MIT")
    rows = imported(folder, minecraft)["quarantine"].rows(named=True)
    assert {(row["path"], row["severity"]) for row in rows} == {
        ("LICENSE", "ignored"),
        ("ckpt/events/notes.txt", "quarantined"),
    }


def test_reading_twice_gives_the_same_rows(tmp_path: Path, minecraft: Domain) -> None:
    folder = write_run(tmp_path, {"Kill_1_cow._20240101_000000": [event("observe", 40)]})
    first, second = imported(folder, minecraft), imported(folder, minecraft)
    assert all(first[table].equals(second[table]) for table in first)


@pytest.mark.parametrize("count", [float("inf"), 2**31, -5, 1.5, None, "4", float("nan")])
def test_an_unreadable_count_is_unknown_and_invents_no_success(
    tmp_path: Path, minecraft: Domain, count: Any
) -> None:
    first = event("onChat", 20, "hi")
    first[1]["inventory"] = {"oak_log": count}
    folder = write_run(
        tmp_path,
        {"Mine_1_oak_log_20240101_000000": [first, event("observe", 60, None, {"oak_log": 4})]},
    )
    frames = imported(folder, minecraft)
    row = only(frames)
    assert (row["success"], row["gained"]) == (False, 0)
    assert "unreadable count of oak_log" in only(frames, "quarantine")["reason"]
    assert frames["events"].height == 2


@pytest.mark.parametrize("elapsed", [2**31, 1e30, -1, "soon"])
def test_an_event_at_no_time_is_quarantined(tmp_path: Path, minecraft: Domain, elapsed: Any) -> None:
    folder = write_run(
        tmp_path, {"Kill_1_cow._20240101_000000": [event("observe", elapsed), event("observe", 40)]}
    )
    frames = imported(folder, minecraft)
    assert frames["events"].height == 1
    assert "elapsed time" in only(frames, "quarantine")["reason"]


def test_one_bad_coordinate_costs_that_coordinate(tmp_path: Path, minecraft: Domain) -> None:
    bad = event("observe", 40, position={"x": 1e300, "y": 64, "z": 2})
    frames = imported(write_run(tmp_path, {"Kill_1_cow._20240101_000000": [bad]}), minecraft)
    assert frames["ticks"].select("x", "y", "z").row(0) == (None, 64.0, 2.0)
    assert "readable x" in only(frames, "quarantine")["reason"]


def test_foreign_bytes_behind_a_whole_list_take_nothing_from_the_attempt(
    tmp_path: Path, minecraft: Domain
) -> None:
    whole = json.dumps([event("observe", 40)]).encode() + b" junk"
    frames = imported(write_run(tmp_path, {"Kill_1_cow._20240101_000000": whole}), minecraft)
    assert only(frames)["end_reason"] == "agent_stopped"
    assert only(frames, "quarantine")["reason"] == "foreign content after the list"


@pytest.mark.parametrize(
    ("task", "said", "claimed"),
    [
        ("Place_a_chest", "Chest placed.", True),
        ("Place_a_chest", "Crafted a chest.", False),
        ("Craft_1_stone_pickaxe", "Equipped stone pickaxe.", False),
        ("Craft_1_stone_pickaxe", "Stone pickaxe crafted.", True),
        ("Craft_4_oak_planks", "Crafted 2 oak planks.", False),
    ],
)
def test_a_claim_is_about_the_asked_result(
    tmp_path: Path, minecraft: Domain, task: str, said: str, claimed: bool
) -> None:
    folder = write_run(
        tmp_path, {f"{task}_20240101_000000": [event("onChat", 20, said), event("observe", 40)]}
    )
    assert only(imported(folder, minecraft))["claimed"] is claimed


def test_one_kill_that_drops_two_is_one_kill(tmp_path: Path, minecraft: Domain) -> None:
    folder = write_run(
        tmp_path,
        {
            "Kill_2_chickens_20240101_000000": [
                event("onChat", 20, "Chicken found."),
                event("onChat", 90, "Killed chicken!", {"feather": 2}),
                event("observe", 110, None, {"feather": 2}),
            ]
        },
    )
    row = only(imported(folder, minecraft))
    assert (row["success"], row["gained"]) == (False, 1)


def test_a_broken_label_list_keeps_what_is_readable(tmp_path: Path, minecraft: Domain) -> None:
    folder = write_run(
        tmp_path, {"Kill_1_cow._20240101_000000": [event("observe", 40)]}, {"completed": [], "failed": []}
    )
    (folder / "ckpt" / "curriculum" / "failed_tasks.json").write_text('["Kill 1 cow", "Mine')
    frames = imported(folder, minecraft)
    assert only(frames)["label"] is False
    bad = only(frames, "quarantine")
    assert (bad["path"], bad["position"], bad["kept"]) == ("ckpt/curriculum/failed_tasks.json", 15, 1)


@settings(max_examples=60, deadline=None)
@given(
    content=st.binary(max_size=200)
    | st.text(alphabet='[]{},:"onChatobserve0 \\\n', max_size=200).map(str.encode)
)
def test_no_bytes_make_the_importer_raise(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = write_run(tmp_path_factory.mktemp("fuzz"), {"Kill_1_cow._20240101_000000": content})
    frames = imported(folder, load_domain("minecraft"))
    attempts, bad = frames["attempts"].height, frames["quarantine"].height
    assert attempts + bad >= 1


def hostile(tmp_path: Path, domain: Domain, content: Any) -> dict[str, pl.DataFrame]:
    """A file of that content before a good one, which is kept whatever the other is."""
    good = [
        event("onChat", 9, "Mined 1 oak log.", {"oak_log": 1}),
        event("observe", 40, None, {"oak_log": 1}),
    ]
    names = ("Kill_1_cow._20240101_000000", "Mine_1_oak_log_20240101_000100")
    frames = imported(write_run(tmp_path, dict(zip(names, (content, good), strict=True))), domain)
    assert f"ckpt/events/{names[1]}" in frames["attempts"]["source"].to_list()
    return frames


def test_an_observation_nested_deeper_than_any_is_told(tmp_path: Path, minecraft: Domain) -> None:
    pair = json.dumps(event("observe", 40)).replace('["dirt"]', "[" * 400 + "]" * 400)
    row = only(hostile(tmp_path, minecraft, f"[{pair}]".encode()), "quarantine")
    assert (row["path"], row["reason"]) == (
        "ckpt/events/Kill_1_cow._20240101_000000",
        "nested deeper than 250",
    )


def test_noise_cannot_fill_the_quarantine(tmp_path: Path, minecraft: Domain) -> None:
    reasons = hostile(tmp_path, minecraft, [1] * 5000)["quarantine"]["reason"].to_list()
    assert len(reasons) == 201
    assert "4800 more faults" in reasons


def test_a_value_that_cannot_be_read_is_told_in_a_few_characters(tmp_path: Path, minecraft: Domain) -> None:
    odd = event("observe", 40, position={"x": [[]] * 9999, "y": {}, "z": "far" * 99})
    told = hostile(tmp_path, minecraft, [odd])["quarantine"]["reason"].to_list()
    assert [words.partition("readable ")[2][:30] for words in sorted(told)] == [
        "x: a list",
        "y: an object",
        "z: 'farfarfarfarfarfarfarfarfa",
    ]
    assert max(map(len, told)) < 100


@pytest.mark.parametrize("what", ["voyager_folder._read_file", "voyager._episode"])
def test_what_nobody_thought_of_costs_its_own_file_only(
    tmp_path: Path, minecraft: Domain, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    module, _, name = f"rollouts.ingest.{what}".rpartition(".")
    real = getattr(import_module(module), name)

    def fails(first: Any, *rest: Any) -> Any:
        if "Kill" in str(first):
            raise KeyError("surprise")
        return real(first, *rest)

    monkeypatch.setattr(f"{module}.{name}", fails)
    row = only(hostile(tmp_path, minecraft, [event("observe", 40)]), "quarantine")
    assert row["path"].endswith("Kill_1_cow._20240101_000000")
    assert row["reason"] == "the importer failed on this file: KeyError: 'surprise'"


def test_real_run(traces: Path, minecraft: Domain) -> None:
    folder = traces / "voyager_questllama"
    assert VoyagerImporter().recognises(folder)
    frames = imported(folder, minecraft)
    assert frames["attempts"].height == 161
    assert frames["events"].height == 1570
    assert frames["attempts"].filter(pl.col("end_reason") == "infrastructure").height == 2
    assert frames["attempts"]["source"].str.contains(r"\\x1b").sum() == 1
    axes = frames["attempts"].filter(
        (pl.col("condition") == "Craft 1 stone axe") & pl.col("source").str.contains("20240507")
    )
    assert axes.select("success", "label").rows() == [(True, False)] * 4
    held = [
        next((item["count"] for item in row["state_after"]["inventory"] if item["name"] == "stone_axe"), 0)
        for row in axes.sort("source").rows(named=True)
    ]
    assert held == [1, 2, 3, 4]
    pickaxe = frames["attempts"].filter(pl.col("source").str.ends_with("20240506_191105")).row(0, named=True)
    assert (pickaxe["claimed"], pickaxe["success"], pickaxe["gained"]) == (True, False, 0)
    for table, frame in Trace.of(frames).frames().items():
        _, broken = TABLES[table].schema.filter(frame)
        assert len(broken) == 0, table
