"""MineStudio rollouts, as JSON lines and as its recorder writes them."""

import json
import os
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rollouts.ingest.minestudio import MineStudioImporter
from tests.tick_files import Tables, action, info, read_checked, slots, write_lines, write_rollout
from warehouse.domains import Domain

IMPORTER = MineStudioImporter()


def load(folder: Path, domain: Domain) -> Tables:
    return read_checked(IMPORTER, folder, domain)


def one(tables: Tables, table: str) -> dict[str, object]:
    assert tables[table].height == 1
    return tables[table].row(0, named=True)


def test_a_craft_that_comes_off_is_a_success_by_its_inventory(tmp_path: Path, minecraft: Domain) -> None:
    infos = [info(inventory=slots(oak_log=1)), info(0.7, inventory=slots(oak_planks=4)), info(0.7)]
    infos[2]["inventory"] = slots(oak_planks=4)
    write_rollout(
        tmp_path / "r_craft_item.oak_planks", infos, [action("inventory"), action("attack"), action()]
    )
    tables = load(tmp_path, minecraft)
    attempt, episode = one(tables, "attempts"), one(tables, "episodes")
    assert (attempt["kind"], attempt["target"], attempt["needed"]) == ("craft", "oak_planks", 1)
    assert attempt["relative"]
    assert (attempt["success"], attempt["gained"], attempt["end_reason"]) == (True, 4, "success")
    assert attempt["claimed"] is None
    assert attempt["label"] is None
    assert (episode["success"], episode["success_tick"], episode["end_reason"]) == (True, 1, "success")
    assert episode["source"] == "minestudio:r_craft_item.oak_planks/info.jsonl"
    assert tables["ticks"]["action"].to_list() == ["inventory", "attack", "noop"]
    changes = tables["inventory_changes"].select("tick", "item", "delta", "count").rows()
    assert changes == [(1, "oak_log", -1, 0), (1, "oak_planks", 4, 4)]
    assert attempt["state_before"]["inventory"] == [{"name": "oak_log", "count": 1}]  # type: ignore[index]


def test_a_flicker_of_one_tick_is_no_result_but_is_told(tmp_path: Path, minecraft: Domain) -> None:
    infos = [info(), info(inventory=slots(dirt=1)), info(), info()]
    write_rollout(tmp_path / "r_mine_block.dirt", infos, [action("attack")] * 4)
    tables = load(tmp_path, minecraft)
    assert one(tables, "attempts")["success"] is False
    assert one(tables, "data_quality")["finding"] == "result_vanished"


def test_the_tasks_own_counter_is_evidence_too(tmp_path: Path, minecraft: Domain) -> None:
    infos = [info(mine_block={"oak_leaves": 0}), info(mine_block={"oak_leaves": [2]})]
    write_rollout(tmp_path / "r_mine_block.oak_leaves", infos, [action("attack")] * 2)
    tables = load(tmp_path, minecraft)
    event = one(tables, "events")
    assert (event["kind"], event["name"], event["count"]) == ("counter", "mine_block:oak_leaves", 2)
    assert event["signal"] is None
    assert (one(tables, "attempts")["success"], one(tables, "attempts")["gained"]) == (True, 2)


def test_a_counter_that_runs_backwards_is_a_finding(tmp_path: Path, minecraft: Domain) -> None:
    infos = [info(pickup={"dirt": 5}), info(pickup={"dirt": 3}), info(pickup={"dirt": 4})]
    write_rollout(tmp_path / "r_pickup:dirt", infos, [action()] * 3)
    tables = load(tmp_path, minecraft)
    finding = one(tables, "data_quality")
    assert (finding["finding"], finding["tick"]) == ("counter_backwards", 1)
    assert finding["detail"] == "pickup:dirt went back from 5 to 3"
    assert tables["events"].select("name", "count").rows() == [("pickup:dirt", 1)]
    assert one(tables, "attempts")["kind"] == "mine"


def test_a_kill_and_a_use_are_undecided_without_counters(tmp_path: Path, minecraft: Domain) -> None:
    write_rollout(tmp_path / "a_kill_entity.zombie", [info()], [action("attack")])
    write_rollout(tmp_path / "b_use_item.bread", [info()], [action("use")])
    attempts = load(tmp_path, minecraft)["attempts"].sort("condition")
    assert attempts.select("condition", "kind", "target", "success").rows() == [
        ("kill entity zombie", "combat", "zombie", None),
        ("use item bread", "use", "bread", None),
    ]


def test_what_only_a_furnace_makes_is_smelted_and_keeps_the_sources_word(
    tmp_path: Path, minecraft: Domain
) -> None:
    write_rollout(tmp_path / "r_craft_item.netherite_scrap", [info()], [action()])
    attempt = one(load(tmp_path, minecraft), "attempts")
    assert (attempt["kind"], attempt["condition"]) == ("smelt", "craft item netherite scrap")


def test_a_screen_is_named_only_where_it_can_be_told(tmp_path: Path, minecraft: Domain) -> None:
    opened = [info(gui=False), info(gui=True), info(gui=True), info(gui=False)]
    write_rollout(tmp_path / "a", opened, [action(), action("inventory"), action(), action()])
    write_rollout(tmp_path / "b", opened, [action("use"), action("inventory"), action(), action()])
    counted = [{**each, "stats": {}} for each in opened]
    for each in counted[1:]:
        each["stats"] = {"minecraft.custom:minecraft.interact_with_furnace": 1}
    write_rollout(tmp_path / "c", counted, [action("use")] * 4)
    tables = load(tmp_path, minecraft)
    guis = tables["ticks"].join(tables["episodes"], on="episode_id").group_by("source", maintain_order=True)
    named = {key[0]: frame["gui"].to_list() for key, frame in guis}
    assert named["minestudio:a/info.jsonl"] == ["none", "inventory", "inventory", "none"]
    assert named["minestudio:b/info.jsonl"] == ["none", "other", "other", "none"]
    assert named["minestudio:c/info.jsonl"] == ["none", "furnace", "furnace", "none"]


def test_what_is_not_recorded_stays_unknown_and_unclaimed(tmp_path: Path, minecraft: Domain) -> None:
    bare = {"inventory": slots(), "is_gui_open": False}
    write_rollout(tmp_path / "r", [bare, bare], [action(camera=(1.0, 0.0)), action()])
    tables = load(tmp_path, minecraft)
    assert tables["ticks"]["x"].null_count() == 2
    assert tables["ticks"]["health"].null_count() == 2
    assert one(tables, "episodes")["observes"] == ["gui", "inventory", "actions"]
    attempt = one(tables, "attempts")
    assert (attempt["kind"], attempt["target"], attempt["success"]) == (None, None, None)
    assert tables["ticks"]["action"].to_list() == ["camera", "noop"]


def test_a_death_is_an_event_and_what_follows_it_a_finding(tmp_path: Path, minecraft: Domain) -> None:
    infos = [info(), info(health=0.0), info(health=0.0), info(health=20.0)]
    write_rollout(tmp_path / "r_mine_block.dirt", infos, [action()] * 4)
    tables = load(tmp_path, minecraft)
    event = one(tables, "events")
    assert (event["signal"], event["tick"]) == ("died", 1)
    finding = one(tables, "data_quality")
    assert (finding["finding"], finding["tick"]) == ("runs_on_after_end", 2)
    assert finding["detail"] == "2 observations after the agent's death at tick 1"
    assert one(tables, "attempts")["end_reason"] == "death"


def test_messages_are_kept_as_said_and_the_recorders_clock_is_not_one(
    tmp_path: Path, minecraft: Domain
) -> None:
    infos = [
        info(message={"RecordCallback": f"Recording Time: {tick}", "Judge": text})
        for tick, text in enumerate(["wait", "wait", "done\x1b[2J"])
    ]
    write_rollout(tmp_path / "r", infos, [action()] * 3)
    tables = load(tmp_path, minecraft)
    assert tables["events"].select("tick", "text").rows() == [(0, "wait"), (2, "done\\x1b[2J")]
    assert "messages" in one(tables, "episodes")["observes"]  # type: ignore[operator]


def test_the_recorders_lists_are_read_too_and_its_reset_is_no_action(
    tmp_path: Path, minecraft: Domain
) -> None:
    (tmp_path / "episode_3_info.json").write_text(json.dumps([info(), info(1.5)]))
    (tmp_path / "episode_3_action.json").write_text(json.dumps([{}, action("forward")]))
    (tmp_path / "episode_3.mp4").write_bytes(b"video")
    assert IMPORTER.recognises(tmp_path)
    tables = load(tmp_path, minecraft)
    assert tables["ticks"]["action"].to_list() == [None, "forward"]
    assert one(tables, "quarantine")["severity"] == "ignored"


@pytest.mark.parametrize(("actions", "expected"), [(1, ["forward", None, None]), (5, ["forward"] * 3)])
def test_files_of_different_length_keep_their_pairs(
    tmp_path: Path, minecraft: Domain, actions: int, expected: list[str | None]
) -> None:
    write_rollout(tmp_path, [info()] * 3, [action("forward")] * actions)
    tables = load(tmp_path, minecraft)
    assert tables["ticks"]["action"].to_list() == expected
    row = one(tables, "quarantine")
    assert row["reason"] == (
        f"{actions} actions beside 3 observations: the first {min(actions, 3)} are taken as pairs"
    )


def test_a_broken_line_leaves_a_gap_and_the_pairs_stay_in_step(tmp_path: Path, minecraft: Domain) -> None:
    write_rollout(
        tmp_path, [info(float(x)) for x in range(3)], [action("forward"), action("jump"), action("use")]
    )
    broken = (tmp_path / "info.jsonl").read_bytes().split(b"\n")
    offset = len(broken[0]) + 1
    (tmp_path / "info.jsonl").write_bytes(b"\r\n".join([broken[0], broken[1][:50], broken[2]]))
    tables = load(tmp_path, minecraft)
    assert tables["ticks"].select("tick", "action").rows() == [(0, "forward"), (2, "use")]
    row = one(tables, "quarantine")
    assert (row["position"], row["kept"]) == (offset + 1, 2)  # CRLF is a byte longer


def test_orphans_and_foreign_files_are_told(tmp_path: Path, minecraft: Domain) -> None:
    write_lines(tmp_path / "a" / "action.jsonl", [action()])
    write_lines(tmp_path / "b" / "info.jsonl", [info()])
    write_lines(tmp_path / "c" / "info.jsonl", [{"something": "else"}])
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "info.jsonl").write_bytes(b"")
    (tmp_path / "notes\x1b[31m.csv").write_text("a,b\n")
    (tmp_path / "LICENSE").write_text("MIT")
    tables = load(tmp_path, minecraft)
    assert tables["episodes"]["source"].to_list() == ["minestudio:b/info.jsonl"]
    told = {
        row[0]: (row[1], row[2]) for row in tables["quarantine"].select("path", "reason", "severity").rows()
    }
    assert told["a/action.jsonl"][0].startswith("actions without observations")
    assert told["b/action.jsonl"][0].startswith("missing")
    assert told["c/info.jsonl"][0].startswith("another format")
    assert told["d/info.jsonl"][0] == "empty file"
    assert told["notes\\x1b[31m.csv"] == ("another format", "quarantined")
    assert told["LICENSE"] == ("known side file", "ignored")


def test_a_file_name_that_is_no_text_is_no_obstacle(tmp_path: Path, minecraft: Domain) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/r\xff_mine_block.dirt"))
    write_rollout(folder, [info()], [action()])
    assert one(load(tmp_path, minecraft), "attempts")["target"] == "dirt"


def test_the_same_folder_gives_the_same_rows_and_other_bytes_another_id(
    tmp_path: Path, minecraft: Domain
) -> None:
    write_rollout(tmp_path / "r", [info()], [action()])
    first, second = load(tmp_path, minecraft), load(tmp_path, minecraft)
    assert all(first[name].equals(second[name]) for name in first)
    write_rollout(tmp_path / "r", [info(9.0)], [action()])
    assert one(load(tmp_path, minecraft), "episodes")["episode_id"] != one(first, "episodes")["episode_id"]


def test_only_its_own_content_is_recognised(tmp_path: Path) -> None:
    write_lines(tmp_path / "info.jsonl", [{"mouse": {}, "keyboard": {}, "inventory": [], "isGuiOpen": False}])
    assert not IMPORTER.recognises(tmp_path)
    assert not IMPORTER.recognises(tmp_path / "absent")
    write_lines(tmp_path / "deep" / "er" / "info.jsonl", [info()])
    assert IMPORTER.recognises(tmp_path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = list(info(message=0, stats=0, mine_block=0, life_stats=0, equipped_item=0, player_pos=0))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=8), max_size=4),
    noise=st.binary(max_size=80),
    form=st.sampled_from(["jsonl", "json"]),
)
def test_no_content_makes_the_importer_raise(
    tmp_path: Path, minecraft: Domain, rows: list[dict[str, object]], noise: bytes, form: str
) -> None:
    for name, content in (("info", [info(), *rows]), ("action", [action(), *rows])):
        text = json.dumps(content) if form == "json" else "\n".join(map(json.dumps, content))
        other = "json" if form == "jsonl" else "jsonl"
        (tmp_path / f"{name}.{other}").unlink(missing_ok=True)
        (tmp_path / f"{name}.{form}").write_bytes(text.encode("utf-8", "surrogatepass") + noise)
    IMPORTER.recognises(tmp_path)
    reasons = load(tmp_path, minecraft)["quarantine"]["reason"]
    assert not reasons.str.contains("the importer failed|fits no table").any(), reasons.to_list()


def test_the_real_rollouts_show_open_screens_and_nothing_made(traces: Path, minecraft: Domain) -> None:
    folder = traces / "minestudio_openha"
    assert IMPORTER.recognises(folder)
    tables = load(folder, minecraft)
    assert tables["episodes"].height == 8
    assert tables["ticks"].height == 83
    assert not tables["quarantine"].height
    assert not tables["attempts"]["success"].any()
    kinds = tables["attempts"].group_by("kind").len().sort("kind").rows()
    assert kinds == [("mine", 2), ("craft", 4), ("smelt", 2)]
    crafting = tables["attempts"].filter(pl.col("kind") != "mine").select("episode_id")
    last = tables["ticks"].join(crafting, on="episode_id").group_by("episode_id").last()
    assert last.filter(pl.col("gui") == "none").is_empty()


@pytest.mark.parametrize("amount", [float("nan"), None, 10**12, "4", -1, 1.5])
def test_an_unreadable_amount_is_no_zero_from_which_a_gain_could_rise(
    tmp_path: Path, minecraft: Domain, amount: object
) -> None:
    infos = [info(inventory=slots(stick=4)) for _ in range(4)]
    infos[0]["inventory"] = {"0": {"type": "stick", "quantity": amount}}
    write_rollout(tmp_path / "r_craft_item.stick", infos, [action()] * 4)
    tables = load(tmp_path, minecraft)
    attempt, row = one(tables, "attempts"), one(tables, "quarantine")
    assert (attempt["success"], attempt["gained"]) == (False, 0)
    assert attempt["state_before"]["inventory"] is None  # type: ignore[index]
    assert tables["inventory_changes"].is_empty()
    assert row["path"] == "r_craft_item.stick/info.jsonl"
    assert (row["reason"], row["position"]) == ("inventory: cannot be read once, taken as unknown there", 0)


def test_an_inventory_that_cannot_be_read_leaves_the_last_known_one(
    tmp_path: Path, minecraft: Domain
) -> None:
    infos = [info(inventory=slots(stick=count)) for count in (1, 1, 1, 5)]
    infos[1]["inventory"] = {"0": {"type": "stick", "quantity": float("inf")}}
    infos[2]["inventory"] = "sticks"
    write_rollout(tmp_path / "r_craft_item.stick", infos, [action()] * 4)
    tables = load(tmp_path, minecraft)
    assert tables["inventory_changes"].select("tick", "delta", "count").rows() == [(3, 4, 5)]
    assert one(tables, "attempts")["success"] is True
    assert one(tables, "quarantine")["reason"] == "inventory: cannot be read 2 times, taken as unknown there"


def test_a_total_that_cannot_be_read_is_no_zero_either(tmp_path: Path, minecraft: Domain) -> None:
    totals = [{"dirt": float("nan")}, {"dirt": 7}, {"dirt": [None, 2]}, {"dirt": 8}]
    write_rollout(
        tmp_path / "r_mine_block.dirt", [info(mine_block=total) for total in totals], [action()] * 4
    )
    tables = load(tmp_path, minecraft)
    assert tables["events"].select("tick", "name", "count").rows() == [(3, "mine_block:dirt", 1)]
    assert one(tables, "quarantine")["reason"].startswith(  # type: ignore[attr-defined]
        "mine_block:dirt: cannot be read 2 times"
    )


def test_a_value_that_is_no_number_is_unknown_and_told_with_its_place(
    tmp_path: Path, minecraft: Domain
) -> None:
    infos = [info(), info(), {**info(stats=[1], life_stats=7), "health": "full", "is_gui_open": "no"}]
    infos[1]["location_stats"]["xpos"] = float("nan")
    infos[2]["location_stats"]["xpos"] = 1e300
    write_rollout(tmp_path, infos, [action(), {**action(), "jump": "x" * 3, "camera": [float("nan"), 1]}, {}])
    tables = load(tmp_path, minecraft)
    assert tables["ticks"]["x"].to_list() == [0.5, None, None]
    assert tables["ticks"]["y"].null_count() == 0
    first, second, _ = (tmp_path / "info.jsonl").read_bytes().splitlines(keepends=True)
    told = dict(tables["quarantine"].filter(path="info.jsonl").select("reason", "position").rows())
    third = len(first) + len(second)
    assert told == {
        "xpos: cannot be read 2 times, taken as unknown there": len(first),
        **{
            f"{name}: cannot be read once, taken as unknown there": third
            for name in ("health", "is_gui_open", "stats", "life_stats")
        },
    }
    (action_row,) = tables["quarantine"].filter(path="action.jsonl").rows(named=True)
    assert action_row["reason"] == "input camera: cannot be read once, taken as unknown there"


def cut(path: Path, many: int = 5) -> None:
    path.write_bytes(path.read_bytes()[:-many])


@pytest.mark.parametrize(("sticks", "success", "end"), [(0, None, "infrastructure"), (4, True, "success")])
def test_a_recording_that_breaks_off_says_nothing_against_the_agent(
    tmp_path: Path, minecraft: Domain, sticks: int, success: bool | None, end: str
) -> None:
    infos = [info(gui=True), info(gui=True, inventory=slots(stick=sticks)), info(gui=True), info(gui=True)]
    infos[2]["inventory"] = infos[1]["inventory"]
    write_rollout(tmp_path / "r_craft_item.stick", infos, [action()] * 4)
    cut(tmp_path / "r_craft_item.stick" / "info.jsonl")
    tables = load(tmp_path, minecraft)
    attempt, episode = one(tables, "attempts"), one(tables, "episodes")
    assert (attempt["success"], attempt["end_reason"], attempt["gained"]) == (success, end, sticks)
    assert (episode["success"], episode["end_reason"]) == (success, end)


@pytest.mark.parametrize("tail", [b"foreign bytes", b"\0" * 40, b'{"a": 1} more'])
def test_foreign_bytes_after_a_whole_recording_change_nothing_but_quarantine(
    tmp_path: Path, minecraft: Domain, tail: bytes
) -> None:
    folder = tmp_path / "r_craft_item.stick"
    write_rollout(folder, [info()] * 3, [action()] * 3)
    with (folder / "info.jsonl").open("ab") as handle:
        handle.write(tail)
    tables = load(tmp_path, minecraft)
    assert (one(tables, "attempts")["success"], one(tables, "attempts")["end_reason"]) == (
        False,
        "agent_stopped",
    )
    assert tables["quarantine"]["path"].unique().to_list() == ["r_craft_item.stick/info.jsonl"]


def test_truncated_actions_leave_the_evidence_whole(tmp_path: Path, minecraft: Domain) -> None:
    write_rollout(tmp_path / "r_craft_item.stick", [info()] * 3, [action()] * 3)
    cut(tmp_path / "r_craft_item.stick" / "action.jsonl")
    assert one(load(tmp_path, minecraft), "attempts")["success"] is False


def test_a_death_that_ended_the_attempt_outlives_the_cut(tmp_path: Path, minecraft: Domain) -> None:
    write_rollout(tmp_path / "r_craft_item.stick", [info(), info(health=0.0), info()], [action()] * 3)
    cut(tmp_path / "r_craft_item.stick" / "info.jsonl")
    assert one(load(tmp_path, minecraft), "attempts")["end_reason"] == "death"


def test_actions_that_cannot_be_opened_are_told_once(tmp_path: Path, minecraft: Domain) -> None:
    write_rollout(tmp_path, [info()], [action()])
    (tmp_path / "action.jsonl").unlink()
    os.mkfifo(tmp_path / "action.jsonl")
    tables = load(tmp_path, minecraft)
    assert one(tables, "quarantine")["reason"] == "not a file but a named pipe"
    assert one(tables, "episodes")["n_ticks"] == 1
