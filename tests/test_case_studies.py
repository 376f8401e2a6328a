"""The method's two case studies, with the real loop from start to end: episodes, Monitor, Inducer, Curator,
snapshot, retrieval, Adaptor. World and planner are stand-ins, so what is shown is that the chain holds.

Diagnoses are never wrong here (`wrong_diagnoses` 0): what is studied is what a right one is worth. Beliefs
are as wrong as standin.toml says.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pytest

from prompts.engines.beliefs import standin_settings
from prompts.engines.rules import RulesStandIn
from prompts.inducer import induce
from prompts.tokens import PieceCounter
from rollouts.agent import Parts, agent_row
from rollouts.backends import InProcess, stage_kit
from rollouts.exercise import ore_heights
from rollouts.lineage import TRAINING, stored_trace
from rollouts.monitor import monitor_shards
from rollouts.protocols import EpisodeSpec
from rollouts.recorder import Batch
from rollouts.rounds import crew_of, roll_out
from rollouts.seeds import training_seeds
from rollouts.worlds.techtree import Settings, TechTree
from rollouts.worlds.techtree.state import SOLID
from warehouse.curator import curate
from warehouse.domains import Domain
from warehouse.entries import Entry
from warehouse.facts import FeedbackFact, facts_from
from warehouse.knowledge import RemedyContent, SkillContent
from warehouse.snapshots import Snapshot, load_snapshot, write_snapshot
from warehouse.tasks import Suite, Task
from warehouse.trace_store import trace_store

GROUP = "case"


def task_of(name: str, target: str, domain: Domain) -> Task:
    return Task(
        id=name,
        group=GROUP,
        kind="craft",
        instruction=f"Get {target}",
        horizon_ticks=6000,
        any_of=(target,),
        count=1,
        verifiable_by="inventory",
        accepted=domain.expand(target) or frozenset({target}),
    )


@dataclass(frozen=True)
class Played:
    """One episode of a build, as it was stored: its row, its attempts, the facts of their feedback."""

    success: bool
    attempts: pl.DataFrame
    facts: tuple[FeedbackFact, ...]


class Study:
    """A line of builds of one episode each, with one planner: what is learnt from one goes into the next.

    What an episode gets beside its world seed is settings of the world."""

    def __init__(self, home: Path, domain: Domain, task: Task, planner_seed: int) -> None:
        self.home, self.domain, self.task, self.planner_seed = home, domain, task, planner_seed
        share = standin_settings().beliefs.misconceptions
        self.planner = RulesStandIn(domain, planner_seed, share, heights=ore_heights())
        self.store: dict[str, Entry] = {}
        self.snapshot: Snapshot | None = None

    def play(self, build: str, world_seed: int, **settings: Any) -> Played:
        spec = EpisodeSpec(
            build=build,
            group=GROUP,
            task_id=self.task.id,
            goal=self.task.instruction,
            world="techtree",
            world_seed=world_seed,
            planner_seed=self.planner_seed,
            horizon=self.task.horizon_ticks,
            snapshot_id=self.snapshot.snapshot_id if self.snapshot else None,
            config_hash="case",
            settings=settings,
        )
        parts = Parts.of(
            agent_row("full"), self.domain, self.snapshot.entries if self.snapshot else (), PieceCounter()
        )
        suite = Suite(source="case", rule="case", ticks_per_minute=1200, tasks=(self.task,))
        crew = crew_of(parts, suite, lambda role, seed: self.planner)
        backend = InProcess(stage_kit(self.domain, parts.row.executor))
        roll_out([Batch(self.home, TRAINING, [spec])], backend, crew, "case study")
        trace = stored_trace(trace_store(self.home), build, GROUP, TRAINING)
        attempts, events, episodes = (
            trace.tables[name].collect() for name in ("attempts", "events", "episodes")
        )
        facts = facts_from(monitor_shards([trace], self.domain), attempts, events, episodes)
        in_order = sorted(facts.values(), key=lambda fact: fact.attempt)
        return Played(bool(episodes["success"][0]), attempts.sort("attempt"), tuple(in_order))

    def learn(self, build: str, facts: Sequence[FeedbackFact]) -> tuple[Entry, ...]:
        """Induces, curates and freezes; what is new in the snapshot."""
        by_id = {fact.feedback_id: fact for fact in facts}
        candidates = induce(facts, self.domain, self.planner, build).candidates
        before = set(self.store)
        self.store = curate(candidates, by_id, self.store, (), self.domain).store
        self.snapshot = load_snapshot(write_snapshot(self.home, self.store.values()))
        return tuple(entry for entry in self.snapshot.entries if entry.entry_id not in before)


def remedies_for(entries: Iterable[Entry], failure: str) -> list[tuple[Entry, RemedyContent]]:
    return [
        (entry, entry.content)
        for entry in entries
        if isinstance(entry.content, RemedyContent) and entry.content.risk.failure_type == failure
    ]


# --- stuck before a ledge ----------------------------------------------------------------------------------

GOAL: Final = "birch_log"
FARTHEST: Final = 18
IN_SIGHT: Final = 2 + 8
LEDGES: Final = (2, 10, 28, 34, 38)
"""The first five training worlds that have such a start."""


def ledge_start(seed: int, domain: Domain) -> tuple[int, int] | None:
    """A column of a generated world from which no step leads on, at least 12 blocks from the nearest log of
    the wanted kind: the middle of a level square of 5 x 5 with a drop of 4 or more all around (a walk takes
    3), such as the roofs of the village's houses. The nearest log is 12 to 18 blocks away, and none can be
    seen from the square (the window reaches 8 blocks to each side). None where there is no such column.

    This looks at the ground alone; what an agent makes of it plays no part.
    """
    world = TechTree(domain, Settings())
    world.reset(seed)
    blocks, catalogue = world.play.blocks, world.play.catalogue
    growth = [catalogue.block[name] for name in catalogue.palette if name.endswith(("_log", "_leaves"))]
    ground = (catalogue.traits[blocks] & SOLID > 0) & ~np.isin(blocks, growth)
    heights = ground.shape[1] - 1 - np.argmax(ground[:, ::-1, :], axis=1)
    squares = np.lib.stride_tricks.sliding_window_view(heights, (7, 7))
    inner = squares[:, :, 1:-1, 1:-1]
    ring = np.ones((7, 7), dtype=bool)
    ring[1:-1, 1:-1] = False
    level = inner.max(axis=(2, 3)) == inner.min(axis=(2, 3))
    high = inner.min(axis=(2, 3)) - squares[:, :, ring].max(axis=2) >= 4
    logs = np.argwhere(blocks == catalogue.block[GOAL])
    for x, z in np.argwhere(level & high) + 3:
        aside = np.abs(logs[:, [0, 2]] - (x, z))
        nearest = np.hypot(aside[:, 0], aside[:, 1]).min(initial=np.inf)
        if 12 <= nearest <= FARTHEST and aside.max(axis=1).min() > IN_SIGHT:
            return int(x), int(z)
    return None


def ledge_study(home: Path, domain: Domain) -> Study:
    return Study(home, domain, task_of("log", GOAL, domain), planner_seed=0)


def test_starts_before_a_ledge_are_found_by_the_ground_alone(minecraft: Domain) -> None:
    found = [seed for seed in range(0, max(LEDGES) + 1, 2) if ledge_start(seed, minecraft)]
    assert tuple(found) == LEDGES


@pytest.mark.parametrize("number", range(len(LEDGES)), ids=[f"world {seed}" for seed in LEDGES])
def test_being_stuck_before_a_ledge_teaches_to_clear_the_way(
    number: int, tmp_path: Path, minecraft: Domain
) -> None:
    study = ledge_study(tmp_path, minecraft)
    world, other, third = (LEDGES[(number + more) % len(LEDGES)] for more in range(3))

    first = study.play("0001", world, start=ledge_start(world, minecraft))
    assert first.facts[0].failure_type == "NAV_STUCK"
    assert not remedies_for(study.learn("0001", first.facts), "NAV_STUCK"), "one world may be a bad seed"

    second = study.play("0002", other, start=ledge_start(other, minecraft))
    stuck = second.facts[0]
    assert (stuck.kind, stuck.target, stuck.y) == ("mine", GOAL, False)
    assert (stuck.failure_type, stuck.stagnant, stuck.remedy_due) == ("NAV_STUCK", True, True)
    assert second.success, "the repaired plan got the log"

    new = remedies_for(study.learn("0002", [*first.facts, *second.facts]), "NAV_STUCK")
    [(remedy, content)] = [(entry, known) for entry, known in new if known.risk.target == GOAL]
    assert remedy.status == "active"
    assert stuck.feedback_id in {support.feedback_id for support in remedy.support}
    assert remedy.places
    clearing, again = content.repair
    assert [check.type for check in clearing.checks] == ["path_clear"]
    assert (again.kind, again.target) == ("mine", GOAL)

    later = study.play("0003", third, start=ledge_start(third, minecraft))
    stuck, cleared, mined = (later.attempts.row(at, named=True) for at in range(3))
    assert later.facts[0].failure_type == "NAV_STUCK"
    assert stuck["knowledge_used"] == []
    assert [check["type"] for check in cleared["checks"]] == ["path_clear"]
    assert remedy.entry_id in cleared["knowledge_used"]
    assert mined["target"] == GOAL
    assert remedy.entry_id in mined["knowledge_used"]
    assert later.success


# --- a craft without its table -----------------------------------------------------------------------------

STATION_FORGOTTEN: Final = ((5, "axe"), (7, "sword"), (8, "axe"), (10, "axe"), (11, "axe"))
"""The first planner seeds whose copy of the facts lacks that some wooden tool takes a table; which tool. The
world explains what it refuses (`messages`), as a game's server does: without that the craft just fails."""


def forgets_station(planner_seed: int, domain: Domain) -> list[str]:
    """Wooden tools of which this planner has forgotten that they take a table; by its beliefs alone."""
    share = standin_settings().beliefs.misconceptions
    wrong = RulesStandIn(domain, planner_seed, share, heights=ore_heights()).beliefs.wrong
    fact = "recipe:wooden_{}:0: the station is forgotten"
    return [tool for tool in ("axe", "hoe", "pickaxe", "shovel", "sword") if fact.format(tool) in wrong]


def test_planners_are_chosen_by_their_beliefs(minecraft: Domain) -> None:
    found = [(seed, tool) for seed in range(12) for tool in forgets_station(seed, minecraft)[:1]]
    assert tuple(found) == STATION_FORGOTTEN


@pytest.mark.parametrize(("planner_seed", "tool"), STATION_FORGOTTEN)
def test_a_forgotten_table_is_learnt_and_put_into_a_later_plan(
    planner_seed: int, tool: str, tmp_path: Path, minecraft: Domain
) -> None:
    target = f"wooden_{tool}"
    study = Study(tmp_path, minecraft, task_of("tool", target, minecraft), planner_seed)
    first_world, later_world = training_seeds(planner_seed, "case", target, 2)

    first = study.play("0001", first_world, messages=True)
    failed = [fact for fact in first.facts if (fact.kind, fact.target, fact.y) == ("craft", target, False)]
    assert failed
    assert failed[0].failure_type == "MISSING_STATION"
    assert "crafting_table" in failed[0].missing
    new = study.learn("0001", first.facts)
    about = [
        (entry, content)
        for entry, content in remedies_for(new, "MISSING_STATION")
        if content.risk.target == target
    ]
    assert about, "no remedy about it was accepted and frozen"
    [(remedy, content)] = about
    assert ("use", "crafting_table") in [(step.kind, step.target) for step in content.repair]
    assert failed[0].feedback_id in {support.feedback_id for support in remedy.support}

    later = study.play("0002", later_world, messages=True)
    steps = later.attempts.select("kind", "target", "knowledge_used").rows()
    plan = [(kind, name) for kind, name, _ in steps]
    assert plan.index(("use", "crafting_table")) < plan.index(("craft", target))
    used = {name for kind, name, known in steps if remedy.entry_id in known}
    assert target in used
    crafts = [fact for fact in later.facts if (fact.kind, fact.target) == ("craft", target)]
    assert "MISSING_STATION" not in {fact.failure_type for fact in crafts}
    assert later.success

    study.learn("0002", later.facts)
    skills = [
        entry
        for entry in study.store.values()
        if isinstance(entry.content, SkillContent) and entry.content.target == target
    ]
    own = {fact.feedback_id for fact in later.facts}
    from_later = [entry for entry in skills if own & {each.feedback_id for each in entry.support}]
    assert [entry.status for entry in from_later if entry.status != "merged"] == ["active"]
