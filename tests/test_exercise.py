"""Every row of agents.toml, played: the records show that what a row switches off is off, and no more."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from prompts.engines.beliefs import StandInSettings, standin_settings
from rollouts.agent import load_agents
from rollouts.backends import InProcess, stage_kit
from rollouts.exercise import Exercise
from rollouts.lineage import TRAINING, episodes_of, previous_snapshot, stored_trace
from rollouts.recorder import Batch
from rollouts.rounds import roll_out
from tests.good_cases import check, step, where
from warehouse import log
from warehouse.domains import Domain
from warehouse.entries import Entry
from warehouse.knowledge import Candidate, RemedyContent, Risk, SkillContent
from warehouse.snapshots import publish_snapshot, published_snapshot
from warehouse.tasks import Suite, Task
from warehouse.trace_store import trace_store
from warehouse.uncurated import as_entries

ROWS = load_agents()
PLANNED = [name for name, row in ROWS.items() if row.planning == "model"]
SUITE = Suite(
    source="test",
    rule="test",
    ticks_per_minute=1200,
    tasks=(
        Task(
            id="pickaxe",
            group="wooden",
            kind="craft",
            instruction="Craft a wooden pickaxe",
            horizon_ticks=2400,
            any_of=("wooden_pickaxe",),
            count=1,
            verifiable_by="inventory",
            accepted=frozenset({"wooden_pickaxe"}),
        ),
    ),
)
SKILL = Candidate(
    domain="minecraft",
    type="skill",
    trigger=(where("kind", "eq", "mine"), where("target", "eq", "#logs")),
    content=SkillContent(kind="mine", target="#logs", steps=(step("mine", "#logs", 1),)),
    verification=(check("inv_ge", "#logs", 1.0),),
    build="0001",
)
RISK = Risk(kind="mine", target="#logs", failure_type="TIMEOUT")
REMEDY = Candidate(
    domain="minecraft",
    type="remedy",
    trigger=(where("kind", "eq", "mine"), where("failure_type", "eq", "TIMEOUT")),
    content=RemedyContent(
        risk=RISK, repair=(step("move"), step("mine", "#logs")), category="deadlock_pattern"
    ),
    build="0001",
)
FICTION = REMEDY.model_copy(
    update={
        "trigger": (where("mood_of_the_elder", "eq", "sour"),),
        "content": RemedyContent(risk=RISK, repair=(step("use", "vibranium"), step("mine", "#logs"))),
    }
)


@dataclass(frozen=True)
class Played:
    """What is on the disk of one episode."""

    home: Path
    episode: Mapping[str, Any]
    attempts: pl.DataFrame
    budget: Mapping[str, Any]
    asked: tuple[tuple[str, Mapping[str, Any]], ...]
    """(role, situation) of every question, in the order of the log"""

    def situations(self, *roles: str) -> list[Mapping[str, Any]]:
        return [situation for role, situation in self.asked if role in roles]

    def shown(self, kind: str) -> set[str]:
        """Ids of the stored skills, or remedies, that a planner or an adaptor was shown."""
        asked = self.situations("planner", "adaptor")
        return {entry["entry_id"] for situation in asked for entry in situation[kind]}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory, minecraft: Domain) -> dict[str, Played]:
    """An episode of every row, with the same seeds and the same published knowledge. Whoever plans gives each
    subgoal one second, in which no tree is felled: attempts fail, and what can be repaired is repaired."""
    return {name: play(tmp_path_factory.mktemp(name), name, minecraft) for name in ROWS}


def hurried() -> StandInSettings:
    figures = standin_settings()
    return figures.model_copy(update={"timeouts": figures.timeouts.model_copy(update={"most": 1.0})})


def entries(*candidates: Candidate) -> tuple[Entry, ...]:
    return as_entries(candidates, {}, [])


def play(home: Path, name: str, domain: Domain) -> Played:
    publish_snapshot(home, "0001", entries(SKILL, REMEDY))
    publish_snapshot(home, "0001", entries(SKILL, REMEDY, FICTION), curated=False)
    chosen = Exercise.of_group(
        domain, SUITE, "wooden", (), ROWS[name], standin=hurried(), episodes=1, horizon_cap=400
    )
    snapshot = previous_snapshot(home, "0002", ROWS[name].curation)
    assert snapshot is not None
    batch = Batch(home, TRAINING, chosen.training("0002", snapshot.snapshot_id))
    roll_out([batch], InProcess(stage_kit(domain, ROWS[name].executor)), chosen.crew(snapshot.entries), name)
    (episode,) = episodes_of(home, "0002", "wooden", TRAINING).to_dicts()
    trace = stored_trace(trace_store(home), "0002", "wooden", TRAINING)
    answers = log.read(home, "answers", ["0002"]).select("role", "situation").iter_rows()
    return Played(
        home,
        episode,
        trace.tables["attempts"].collect(),
        batch.beside("budgets").to_dicts()[0],
        tuple((role, orjson.loads(situation)) for role, situation in answers),
    )


def failures(one: Played) -> list[Mapping[str, Any]]:
    """What an adaptor was told of attempts that failed."""
    told = [row for situation in one.situations("adaptor") for row in situation["recent"]]
    return [row for row in told if row["y"] is False]


@pytest.mark.parametrize("name", ROWS)
def test_every_row_plays_to_an_end_of_its_own(played: dict[str, Played], name: str) -> None:
    one = played[name]
    assert one.episode["agent"] == name
    assert one.episode["end_reason"] not in ("infrastructure", "recording_end")
    assert one.attempts.height >= 1
    assert one.budget["used"] == len(one.situations("planner", "adaptor"))


def test_the_same_worlds_and_budgets_and_no_two_rows_the_same_episode(played: dict[str, Played]) -> None:
    assert len({one.episode["world_seed"] for one in played.values()}) == 1
    assert len({one.budget["used"] + one.budget["remaining"] for one in played.values()}) == 1
    assert len({one.episode["episode_id"] for one in played.values()}) == len(ROWS)


def test_the_full_method_has_all_of_it(played: dict[str, Played]) -> None:
    full = played["full"]
    asked = full.situations("adaptor")
    assert max(len(situation["recent"]) for situation in asked) > 1
    assert "TIMEOUT" in {row["failure_type"] for row in failures(full)}
    assert full.situations("inducer_remedy")
    assert full.shown("skills") == {SKILL.entry_id}
    assert full.shown("remedies") == {REMEDY.entry_id}
    assert full.episode["snapshot_id"] == published_snapshot(full.home, "0001")


@pytest.mark.parametrize("name", PLANNED)
def test_feedback_is_what_the_row_says(played: dict[str, Played], name: str) -> None:
    told, feedback = failures(played[name]), ROWS[name].feedback
    assert bool(told) == ROWS[name].repair
    assert all((row["failure_type"] is not None) == (feedback == "typed") for row in told)
    assert all((row["progress"] is not None) == (feedback == "typed") for row in told)
    # Not every failure has evidence that can be put into words.
    in_words = any(row["evidence"] is not None for row in told)
    assert in_words == (ROWS[name].repair and feedback in ("typed", "text"))
    diagnosed = played[name].situations("inducer_remedy")
    assert bool(diagnosed) == (feedback == "typed" and ROWS[name].repair)


@pytest.mark.parametrize("name", PLANNED)
def test_knowledge_is_of_the_kinds_that_the_row_says(played: dict[str, Played], name: str) -> None:
    types = ROWS[name].types
    assert bool(played[name].shown("skills")) == ("skill" in types)
    assert bool(played[name].shown("remedies")) == ("remedy" in types)
    known = {SKILL.entry_id: "skill", REMEDY.entry_id: "remedy", FICTION.entry_id: "remedy"}
    used = {
        known[entry_id]
        for each in played[name].attempts["knowledge_used"].to_list()
        for entry_id in each
        if entry_id in known
    }
    assert used <= types
    assert ("skill" in used) == ("skill" in types)


@pytest.mark.parametrize("name", PLANNED)
def test_uncurated_knowledge_is_shown_where_curation_is_off_and_nowhere_else(
    played: dict[str, Played], name: str
) -> None:
    one, curated = played[name], ROWS[name].curation
    assert one.episode["snapshot_id"] == published_snapshot(one.home, "0001", curated)
    assert (FICTION.entry_id in one.shown("remedies")) == (not curated)


@pytest.mark.parametrize("name", PLANNED)
def test_a_plan_is_repaired_where_repair_is_on_and_nowhere_else(played: dict[str, Played], name: str) -> None:
    one = played[name]
    assert one.attempts["success"].to_list().count(False) > 0
    assert bool(one.situations("adaptor")) == ROWS[name].repair
    assert (one.budget["repairs"] > 0) == ROWS[name].repair


@pytest.mark.parametrize("name", [name for name in PLANNED if ROWS[name].repair])
def test_a_repair_remembers_as_much_as_the_row_says(played: dict[str, Played], name: str) -> None:
    longest = max(len(situation["recent"]) for situation in played[name].situations("adaptor"))
    assert (longest > 1) == (ROWS[name].memory == "episode")


def test_the_executor_alone_gets_the_goal_and_nobody_is_asked(played: dict[str, Played]) -> None:
    alone = played["executor_only"]
    assert alone.asked == ()
    assert alone.budget["used"] == 0
    (attempt,) = alone.attempts.to_dicts()
    assert (attempt["kind"], attempt["target"], attempt["needed"]) == ("craft", "wooden_pickaxe", 1)
    assert attempt["condition"] == "Craft a wooden pickaxe"
    assert attempt["knowledge_used"] == []
