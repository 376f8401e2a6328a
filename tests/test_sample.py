"""The sample that a first run uses: whole, deterministic, declared, and true to the domain's rules."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from prompts.engines.rules import RulesStandIn
from prompts.inducer import induce
from rollouts.ingest.native import NativeImporter
from rollouts.ingest.protocol import merge
from rollouts.monitor.feedback import monitor
from rollouts.sample import BUILD, sample_rows, write_sample
from rollouts.trace import Trace
from warehouse.curator import curate
from warehouse.domains import Domain
from warehouse.facts import facts_from
from warehouse.knowledge import SkillContent
from warehouse.records import TRACE_TABLES

TASKS = Path(__file__).resolve().parent.parent / ".." / "shared" / "tasks" / "mcu_tech_tree_70.json"


@pytest.fixture(scope="module")
def rows() -> dict[str, list[dict[str, Any]]]:
    return sample_rows()


def test_the_same_bytes_every_time(tmp_path: Path) -> None:
    one, two = write_sample(tmp_path / "one"), write_sample(tmp_path / "two")
    for table in TRACE_TABLES:
        name = f"{table}.parquet"
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_every_row_keeps_the_contract(tmp_path: Path, minecraft: Domain) -> None:
    tables = merge(NativeImporter().read(write_sample(tmp_path), "b1", minecraft))
    assert tables["quarantine"].is_empty()
    assert tables["episodes"].height >= 12
    assert tables["attempts"].height >= 36
    assert all(tables[table].height for table in TRACE_TABLES)


def test_it_declares_itself(rows: dict[str, list[dict[str, Any]]]) -> None:
    assert all(episode["source"].startswith("sample:") for episode in rows["episodes"])
    assert {episode["agent"] for episode in rows["episodes"]} == {"hand-written sample"}


def test_it_names_only_what_the_domain_knows(
    rows: dict[str, list[dict[str, Any]]], minecraft: Domain
) -> None:
    known = minecraft.items | minecraft.blocks | minecraft.entities
    targets = {attempt["target"] for attempt in rows["attempts"]} - {None}
    assert targets <= known
    assert {change["item"] for change in rows["inventory_changes"]} <= minecraft.items
    assert {sighting["name"] for sighting in rows["sightings"]} <= known
    assert {tick["equipped"] for tick in rows["ticks"]} - {"none"} <= minecraft.items


# Copied, so that the test runs where the suite is not at hand.
SUITE = {
    "wooden_00": "Craft a wooden pickaxe",
    "stone_00": "Craft a stone pickaxe",
    "stone_01": "Craft a stone axe",
    "iron_12": "Smelt iron ore into iron ingot",
    "iron_13": "Dig down to mine iron ore",
    "diamond_00": "Dig down and mine a diamond",
}


def test_its_tasks_are_the_suites(rows: dict[str, list[dict[str, Any]]]) -> None:
    told = {row["task_id"]: row["goal"] for row in rows["episodes"] if row["task_id"] is not None}
    assert told == SUITE
    if TASKS.is_file():
        suite = {task["id"]: task["instruction"] for task in json.loads(TASKS.read_text())["tasks"]}
        assert suite.items() >= SUITE.items()


def test_every_craft_in_it_follows_a_recipe(rows: dict[str, list[dict[str, Any]]], minecraft: Domain) -> None:
    changes = pl.DataFrame(rows["inventory_changes"])
    done = [
        event for event in rows["events"] if event["signal"] == "done" and event["name"].startswith("craft:")
    ]
    assert done
    for event in done:
        at = changes.filter((pl.col("episode_id") == event["episode_id"]) & (pl.col("tick") == event["tick"]))
        delta = dict(at.select("item", "delta").rows())
        made = event["name"].removeprefix("craft:")
        assert delta[made] == event["count"]
        paid = {item: -many for item, many in delta.items() if many < 0}
        assert any(_pays(recipe, delta[made], paid, minecraft) for recipe in minecraft.recipes[made]), event


def _pays(recipe: Any, made: int, paid: dict[str, int], domain: Domain) -> bool:
    times = made // recipe.count
    if times * recipe.count != made:
        return False
    left = dict(paid)
    for name, many in recipe.ingredients:
        item = next((item for item in sorted(domain.expand(name)) if left.get(item, 0) >= many * times), None)
        if item is None:
            return False
        left[item] -= many * times
    return not any(left.values())


def test_inventories_run_on_from_attempt_to_attempt(rows: dict[str, list[dict[str, Any]]]) -> None:
    attempts = sorted(rows["attempts"], key=lambda attempt: (attempt["episode_id"], attempt["attempt"]))
    for before, after in pairwise(attempts):
        if before["episode_id"] == after["episode_id"]:
            assert before["state_after"]["inventory"] == after["state_before"]["inventory"]
            assert after["start_tick"] == before["end_tick"] + 1


def test_it_shows_what_a_first_run_should_show(rows: dict[str, list[dict[str, Any]]]) -> None:
    signals = {event["signal"] for event in rows["events"]}
    assert signals >= {"missing_station", "missing_tool", "path_blocked", "died", "connection_lost", "claim"}
    without_table = [event for event in rows["events"] if event["signal"] == "missing_station"]
    assert len({event["episode_id"] for event in without_table}) == 2
    assert any(attempt["claimed"] and not attempt["success"] for attempt in rows["attempts"])
    assert {episode["end_reason"] for episode in rows["episodes"]} >= {"success", "death", "infrastructure"}
    assert any(tick["gui"] == "furnace" for tick in rows["ticks"])


def test_its_longest_run_of_successes_is_one_accepted_skill(tmp_path: Path, minecraft: Domain) -> None:
    frames = merge(NativeImporter().read(write_sample(tmp_path), BUILD, minecraft))
    feedback = monitor(Trace.of(frames), minecraft)
    facts = facts_from(feedback, frames["attempts"], frames["events"], frames["episodes"])
    candidates = induce(facts, minecraft, RulesStandIn(minecraft), BUILD).candidates
    store = curate(candidates, facts, {}, [], minecraft).store
    [episode] = frames["episodes"].filter(source="sample:pickaxe-oak-river")["episode_id"]
    [entry] = [entry for entry in store.values() if entry.support[0].episode_id == episode]
    assert isinstance(entry.content, SkillContent)
    assert [f"{step.kind} {step.target} {step.count}" for step in entry.content.steps] == [
        "mine oak_log 3",
        "craft oak_planks 12",
        "craft crafting_table 1",
        "craft stick 4",
        "use crafting_table 1",
        "craft wooden_pickaxe 1",
    ]
    assert entry.content.preconditions == (), "from nothing but trees"
    gained = {effect.name: effect.count for effect in entry.content.effects}
    assert gained == {"oak_planks": 3, "stick": 2, "wooden_pickaxe": 1}
    assert (len(entry.support), entry.support_episodes) == (6, 1)
