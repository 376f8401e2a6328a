"""Contractor recordings: attempts cut from what was achieved."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rollouts.ingest import vpt
from rollouts.ingest.vpt import LONGEST_PAUSE, VPTImporter
from tests.test_minestudio import json_values
from tests.tick_files import Tables, read_checked, stats, vpt_line, write_lines
from warehouse.domains import Domain
from warehouse.ids import file_digest

IMPORTER = VPTImporter()


def load(folder: Path, domain: Domain) -> Tables:
    return read_checked(IMPORTER, folder, domain)


def recording(tmp_path: Path, domain: Domain, lines: list[dict[str, Any]]) -> dict[str, pl.DataFrame]:
    write_lines(tmp_path / "player-1.jsonl", lines)
    return load(tmp_path, domain)


def spans(tables: dict[str, pl.DataFrame]) -> list[tuple[Any, ...]]:
    columns = ("kind", "target", "gained", "success", "start_tick", "end_tick", "end_reason")
    return tables["attempts"].select(columns).rows()


def counted(totals: list[dict[str, int]], **more: Any) -> list[dict[str, Any]]:
    return [vpt_line(tick, stats=stats(**total), **more) for tick, total in enumerate(totals)]


def test_attempts_end_with_the_last_of_their_kind(tmp_path: Path, minecraft: Domain) -> None:
    totals = [
        {},
        {"mine_block__stone": 1},
        {"mine_block__stone": 1},
        {"mine_block__stone": 3},
        {"mine_block__stone": 3, "craft_item__stick": 4},
        {"mine_block__stone": 3, "craft_item__stick": 4},
    ]
    tables = recording(tmp_path, minecraft, counted(totals))
    assert spans(tables) == [
        ("mine", "stone", 3, True, 0, 3, "success"),
        ("craft", "stick", 4, True, 4, 4, "success"),
        (None, None, None, None, 5, 5, "agent_stopped"),
    ]
    assert tables["attempts"]["needed"].to_list() == [1, 1, None]
    assert tables["ticks"]["attempt"].to_list() == [0, 0, 0, 0, 1, 2]
    assert tables["events"].select("name", "count", "attempt").rows() == [
        ("mine_block:stone", 1, 0),
        ("mine_block:stone", 2, 0),
        ("craft_item:stick", 4, 1),
    ]


def test_a_long_pause_begins_a_new_attempt(tmp_path: Path, minecraft: Domain) -> None:
    rows = [vpt_line(0, stats={})]
    rows += [vpt_line(t, stats=stats(mine_block__dirt=1)) for t in range(1, LONGEST_PAUSE + 2)]
    rows += [vpt_line(LONGEST_PAUSE + 2, stats=stats(mine_block__dirt=2))]
    assert [(span[0], span[4]) for span in spans(recording(tmp_path, minecraft, rows))] == [
        ("mine", 0),
        ("mine", 2),
    ]


def test_totals_from_before_the_recording_are_no_feats(tmp_path: Path, minecraft: Domain) -> None:
    tables = recording(tmp_path, minecraft, counted([{"mine_block__stone": 40}] * 2))
    assert spans(tables) == [(None, None, None, None, 0, 1, "agent_stopped")]
    assert tables["events"].is_empty()


def test_a_tool_is_a_means_and_its_use_no_feat(tmp_path: Path, minecraft: Domain) -> None:
    totals = [{}, {"use_item__stone_pickaxe": 1, "mine_block__stone": 1}, {"use_item__bread": 1}]
    assert [span[:2] for span in spans(recording(tmp_path, minecraft, counted(totals)))] == [
        ("mine", "stone"),
        ("use", "bread"),
    ]


def test_smelting_is_told_by_the_open_furnace(tmp_path: Path, minecraft: Domain) -> None:
    rows = counted([{}, {"custom__interact_with_furnace": 1}, {"craft_item__iron_ingot": 1}])
    for row in rows[1:]:
        row["isGuiOpen"] = True
    tables = recording(tmp_path, minecraft, rows)
    assert tables["ticks"]["gui"].to_list() == ["none", "furnace", "furnace"]
    assert spans(tables)[0][:2] == ("smelt", "iron_ingot")


def test_a_death_ends_an_attempt_and_going_on_is_a_finding(tmp_path: Path, minecraft: Domain) -> None:
    totals = [
        {},
        {"mine_block__dirt": 1},
        {"mine_block__dirt": 1},
        {"custom__deaths": 1},
        {"custom__deaths": 1},
    ]
    tables = recording(tmp_path, minecraft, counted(totals))
    assert [(span[0], span[-1]) for span in spans(tables)] == [
        ("mine", "success"),
        (None, "death"),
        (None, "agent_stopped"),
    ]
    assert tables["events"].filter(pl.col("signal") == "died")["tick"].to_list() == [3]
    (finding,) = tables["data_quality"].filter(pl.col("finding") == "runs_on_after_end").rows(named=True)
    assert (finding["tick"], finding["attempt"]) == (4, 2)
    assert tables["episodes"]["end_reason"].to_list() == ["recording_end"]


def test_a_tick_count_that_starts_anew_is_told_and_time_goes_on(tmp_path: Path, minecraft: Domain) -> None:
    rows = [vpt_line(tick) for tick in (10, 11, 14, 0, 1)]
    tables = recording(tmp_path, minecraft, rows)
    assert tables["ticks"]["tick"].to_list() == [0, 1, 4, 5, 6]
    findings = tables["data_quality"].select("finding", "tick", "detail").rows()
    assert (("time_backwards", 5, "tick went back from 14 to 0")) in findings
    assert ("runs_on_after_end", 5) in [finding[:2] for finding in findings]


def test_a_statistic_that_falls_is_told(tmp_path: Path, minecraft: Domain) -> None:
    tables = recording(tmp_path, minecraft, counted([{"mine_block__dirt": 5}, {"mine_block__dirt": 2}]))
    assert tables["data_quality"]["detail"].to_list() == ["mine_block:dirt went back from 5 to 2"]


def test_inputs_have_their_games_names(tmp_path: Path, minecraft: Domain) -> None:
    rows = [
        vpt_line(0, keys=("w", "left.control", "space"), buttons=(0,), dx=3.0),
        vpt_line(1, keys=("e", "7", "f3"), buttons=(1, 2, 9)),
        vpt_line(2),
    ]
    tables = recording(tmp_path, minecraft, rows)
    assert tables["ticks"]["action"].to_list() == [
        "attack+camera+forward+jump+sprint",
        "button.9+f3+hotbar.7+inventory+pickItem+use",
        "noop",
    ]
    assert tables["ticks"]["health"].null_count() == 3
    assert "vitals" not in tables["episodes"]["observes"][0]


def test_without_statistics_the_inventory_shows_the_feats(tmp_path: Path, minecraft: Domain) -> None:
    def held(**items: int) -> list[dict[str, Any]]:
        return [{"type": name, "quantity": count} for name, count in items.items()]

    rows = [vpt_line(tick, stats={}, inventory=held()) for tick in range(20)]
    for row in rows[2:]:
        row["inventory"] = held(oak_log=1)
    for row in rows[5:9]:  # a screen opens; the log goes to the cursor, comes back, and becomes planks
        row["isGuiOpen"] = row["isGuiInventory"] = True
    rows[6]["inventory"] = held()
    for row in rows[8:]:
        row["inventory"] = held(oak_planks=4)
    for row in rows:
        del row["stats"]
    assert [span[:4] for span in spans(recording(tmp_path, minecraft, rows))] == [
        ("mine", "oak_log", 1, True),
        ("craft", "oak_planks", 4, True),
        (None, None, None, None),
    ]


def test_foreign_lines_are_told_once_and_side_files_are_ignored(tmp_path: Path, minecraft: Domain) -> None:
    write_lines(tmp_path / "p.jsonl", [vpt_line(0), {"other": 1}, {"other": 2}, vpt_line(1)], end="\r\n")
    (tmp_path / "p-options.json").write_text("{}")
    (tmp_path / "p.zip").write_bytes(b"PK")
    (tmp_path / "z.jsonl").write_bytes(b"")
    tables = load(tmp_path, minecraft)
    rows = tables["quarantine"].select("path", "severity", "kept").rows()
    assert sorted(rows) == [
        ("p-options.json", "ignored", 0),
        ("p.jsonl", "quarantined", 2),
        ("p.zip", "ignored", 0),
        ("z.jsonl", "quarantined", 0),
    ]


def test_only_its_own_content_is_recognised(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [{"inventory": {}, "is_gui_open": False}])
    assert not IMPORTER.recognises(tmp_path)
    write_lines(tmp_path / "b.jsonl", [vpt_line(0)])
    assert IMPORTER.recognises(tmp_path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.dictionaries(st.sampled_from(list(vpt_line(0))), json_values, max_size=8), max_size=4),
    noise=st.binary(max_size=80),
)
def test_no_content_makes_the_importer_raise(
    tmp_path: Path, minecraft: Domain, rows: list[dict[str, object]], noise: bytes
) -> None:
    content = "\n".join(json.dumps({**vpt_line(3), **row}) for row in [{}, *rows])
    (tmp_path / "x.jsonl").write_bytes(content.encode("utf-8", "surrogatepass") + noise)
    IMPORTER.recognises(tmp_path)
    reasons = load(tmp_path, minecraft)["quarantine"]["reason"]
    assert not reasons.str.contains("the importer failed|fits no table").any(), reasons.to_list()


@pytest.mark.parametrize("lines", [1, 2])
def test_every_tick_belongs_to_exactly_one_attempt(tmp_path: Path, minecraft: Domain, lines: int) -> None:
    totals = [{"mine_block__dirt": tick // 2, "craft_item__stick": tick // 3} for tick in range(lines * 9)]
    tables = recording(tmp_path, minecraft, counted(totals))
    ends = tables["attempts"].select("start_tick", "end_tick").rows()
    assert [start for start, _ in ends] == [0, *(end + 1 for _, end in ends[:-1])]
    assert tables["ticks"]["attempt"].n_unique() == tables["attempts"].height


@pytest.mark.parametrize("clock", ["tick", "serverTick", "milli"])
@pytest.mark.parametrize("time", [1e30, -1e30, float("inf"), 2.0**63, "late"])
def test_a_time_that_no_clock_shows_is_unknown(
    tmp_path: Path, minecraft: Domain, clock: str, time: float
) -> None:
    rows = [vpt_line(tick) for tick in range(4)]
    rows[1][clock] = time
    tables = recording(tmp_path, minecraft, rows)
    assert tables["ticks"]["tick"].to_list() == [0, 1, 2, 3]
    assert tables["data_quality"].is_empty()
    (row,) = tables["quarantine"].rows(named=True)
    assert row["reason"] == f"{clock}: cannot be read once, taken as unknown there"
    assert row["position"] == len(json.dumps(rows[0])) + 1


def test_a_statistic_that_is_back_at_once_is_not_counted_again(tmp_path: Path, minecraft: Domain) -> None:
    totals = [{"mine_block__stone": many} for many in (0, 3, 3, 0, 3, 4)]
    tables = recording(tmp_path, minecraft, counted(totals))
    assert spans(tables)[0][:3] == ("mine", "stone", 4)
    assert tables["events"].select("tick", "count").rows() == [(1, 3), (5, 1)]
    assert tables["data_quality"]["finding"].to_list() == ["counter_backwards"]


def test_a_statistic_that_starts_anew_counts_from_there(tmp_path: Path, minecraft: Domain) -> None:
    totals = [{"mine_block__stone": many} for many in (0, 3, 0, 1, 2)]
    assert spans(recording(tmp_path, minecraft, counted(totals)))[0][:3] == ("mine", "stone", 5)


def test_an_unreadable_total_or_amount_is_no_zero(tmp_path: Path, minecraft: Domain) -> None:
    rows = counted([{"mine_block__stone": 3}] * 3)
    rows[0]["stats"]["minecraft.mine_block:minecraft.stone"] = float("nan")
    for row, many in zip(rows, (-1, 4, 4), strict=True):
        row["inventory"] = [{"type": "cobblestone", "quantity": many}]
    tables = recording(tmp_path, minecraft, rows)
    assert spans(tables) == [(None, None, None, None, 0, 2, "agent_stopped")]
    assert tables["inventory_changes"].is_empty()
    assert [reason.partition(":")[0] for reason in tables["quarantine"]["reason"]] == [
        "inventory",
        "mine_block",
    ]


def test_the_attempt_that_a_recording_breaks_off_in_is_undecided(tmp_path: Path, minecraft: Domain) -> None:
    totals = [{}, {"mine_block__stone": 1}, {"mine_block__stone": 1}, {"mine_block__stone": 1}]
    path = tmp_path / "p.jsonl"
    write_lines(path, counted(totals))
    path.write_bytes(path.read_bytes()[:-9])
    tables = load(tmp_path, minecraft)
    assert [(span[0], span[3], span[-1]) for span in spans(tables)] == [
        ("mine", True, "success"),
        (None, None, "infrastructure"),
    ]
    assert tables["episodes"]["end_reason"].to_list() == ["infrastructure"]
    write_lines(path, counted(totals))
    path.write_bytes(path.read_bytes() + b"foreign")
    assert spans(load(tmp_path, minecraft))[-1][-1] == "agent_stopped"


def test_what_nobody_thought_of_costs_its_file_and_not_the_run(
    tmp_path: Path, minecraft: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lines(tmp_path / "a.jsonl", [vpt_line(0)])
    write_lines(tmp_path / "b.jsonl", [vpt_line(0)])

    def trips(path: Path) -> str:
        if path.name == "a.jsonl":
            raise OverflowError("cannot convert float infinity to integer")
        return file_digest(path)

    monkeypatch.setattr(vpt, "file_digest", trips)
    tables = load(tmp_path, minecraft)
    assert tables["episodes"]["source"].to_list() == ["vpt:b.jsonl"]
    assert tables["quarantine"].select("path", "reason").rows() == [
        (
            "a.jsonl",
            "the importer failed on this file: OverflowError: cannot convert float infinity to integer",
        )
    ]
