"""Candidates as they came: what Curator would have refused is knowledge like any other and breaks nothing."""

from pathlib import Path
from random import Random

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompts.engines.rules import RulesStandIn
from prompts.planning import Goal
from prompts.tokens import PieceCounter
from rollouts.agent import Parts, agent_row
from rollouts.budget import CallBudget
from rollouts.planner import Asked, Moment, Plan, Planner, Retry
from tests.case_templates import cases
from tests.good_cases import DOMAIN, Case
from tests.mutators import MUTATORS
from tests.test_fold import attempted, curate, make_home, tables
from tests.test_log import FEEDBACK, remedy, skill
from warehouse import log
from warehouse.entries import Usage
from warehouse.fold import rebuild, store_after
from warehouse.shards import DamagedShardError
from warehouse.snapshots import (
    list_snapshots,
    load_snapshot,
    publish_snapshot,
    published_snapshot,
    snapshot_id_of,
)
from warehouse.uncurated import as_entries, uncurated_store

STAND_IN = RulesStandIn(DOMAIN)
# An answer is always of the domain that it was asked about.
FAULTS = [mutator for mutator in MUTATORS if mutator.name != "other_domain"]


def test_every_entry_once_with_the_support_of_all_its_candidates() -> None:
    one, again = skill("b1", support=("a" * 20, "b" * 20)), skill("b2", support=("b" * 20, "c" * 20))
    episode_of = {"a" * 20: "e1", "b" * 20: "e1", "c" * 20: "e2"}
    uses = [Usage(entry_id=one.entry_id, feedback_id=f"{n}", episode_id=f"{n}", won=n > 0) for n in range(3)]

    (entry,) = as_entries([again, one], episode_of, uses)

    assert (entry.entry_id, entry.status, entry.version) == (one.entry_id, "active", 1)
    assert [each.feedback_id for each in entry.support] == ["a" * 20, "b" * 20, "c" * 20]
    assert (entry.support_episodes, entry.uses, entry.wins) == (2, 3, 2)
    assert entry.confidence == pytest.approx((1 + 2 + 2) / (2 + 2 + 2 + 1))
    assert (entry.first_build, entry.last_build) == ("b1", "b2")


def test_a_candidate_of_episodes_that_are_gone_is_gone_and_one_that_cites_nothing_stays() -> None:
    gone, bare = skill("b1", support=(FEEDBACK,)), remedy("b1", ())

    assert [entry.entry_id for entry in as_entries([gone, bare], {}, [])] == [bare.entry_id]
    assert len(as_entries([gone, bare], {FEEDBACK: "e1"}, [])) == 2


def faulty(case: Case, seed: int) -> list[Case]:
    made = [mutator.apply(case, Random(seed)) for mutator in FAULTS]
    return [each for each in made if each is not None]


def answered(planner: Planner, asked: Asked) -> object:
    (answer,) = STAND_IN.generate([asked.request])
    return planner.read(asked, answer)


@settings(max_examples=25, deadline=None)
@given(cases(), st.integers(0, 10**6))
def test_whatever_curator_would_refuse_can_be_retrieved_shown_and_planned_with(case: Case, seed: int) -> None:
    """All faults at once. A plan that repeats what is no action is sent back, and then there is one."""
    entries = as_entries([each.candidate for each in faulty(case, seed)], {}, [])
    parts = Parts.of(agent_row("no_curation"), DOMAIN, entries, PieceCounter())
    fact = next(iter(case.facts.values()))
    moment = Moment("e", Goal(text=f"{fact.kind} {fact.target}"), fact.state_before, (fact,))

    asked = parts.planner.request(moment)
    outcome = answered(parts.planner, asked)
    if isinstance(outcome, Retry):
        outcome = answered(parts.planner, outcome.asked)

    assert isinstance(outcome, Plan)
    after = Moment("e", moment.goal, moment.state, moment.facts, budget=CallBudget(plans=1))
    repair = parts.adaptor.request(after, outcome, {outcome.subgoals[0].subgoal_id: False}, entries[:3])
    (answer,) = STAND_IN.generate([repair.request])
    again = parts.adaptor.read(repair, answer)
    if isinstance(again, Retry):
        (answer,) = STAND_IN.generate([again.asked.request])
        again = parts.adaptor.read(again.asked, answer)
    assert isinstance(again, Plan)


def test_faulty_entries_are_really_shown() -> None:
    unknown = skill("b1", target="vibranium", support=())
    parts = Parts.of(agent_row("no_curation"), DOMAIN, as_entries([unknown], {}, []), PieceCounter())
    asked = parts.planner.request(Moment("e", Goal(text="Craft vibranium", any_of=("vibranium",)), {}))
    assert [entry.entry_id for entry in asked.situation.skills] == [unknown.entry_id]
    assert "vibranium" in asked.request.user


def test_a_build_publishes_one_of_each_sort(tmp_path: Path) -> None:
    entries = as_entries([skill("b1", support=())], {}, [])
    curated = publish_snapshot(tmp_path, "b1", entries)
    other = publish_snapshot(tmp_path, "b1", entries, curated=False)

    assert curated.name == published_snapshot(tmp_path, "b1") == snapshot_id_of(entries)
    assert other.name == published_snapshot(tmp_path, "b1", curated=False)
    assert other.name != curated.name, "the same entries, and still not the same arm"
    assert [load_snapshot(folder).curated for folder in (curated, other)] == [True, False]
    assert load_snapshot(other).entries == load_snapshot(curated).entries
    assert list_snapshots(tmp_path) == sorted([curated, other])


def test_a_manifest_that_says_curated_of_what_is_not_is_damaged(tmp_path: Path) -> None:
    folder = publish_snapshot(tmp_path, "b1", as_entries([skill("b1", support=())], {}, []), curated=False)
    path = folder / "manifest.json"
    manifest = orjson.loads(path.read_bytes())
    path.write_bytes(orjson.dumps(manifest | {"curated": True}))

    with pytest.raises(DamagedShardError, match="is damaged"):
        load_snapshot(folder)


def test_the_store_of_candidates_holds_what_curator_refused(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    refused = skill("b2", target="vibranium", support=tuple(f for f, _ in attempted("b2", 0, 1)))
    log.append(home, "candidates", "b2", log.candidate_rows([refused, remedy("b2", ())]))
    rebuild(home, curate)

    first, second = uncurated_store(home, "b1"), uncurated_store(home, "b2")

    assert {entry.entry_id for entry in first} == {skill("b1").entry_id, remedy("b1").entry_id}
    assert refused.entry_id in {entry.entry_id for entry in second}
    assert len(second) == 3
    used = next(entry for entry in second if entry.entry_id == skill("b1").entry_id)
    assert (used.uses, used.wins) == (1, 1), "the undecided use is none"
    assert next(entry for entry in first if entry.entry_id == used.entry_id).uses == 0
    builds = dict(tables(home, "builds")["builds"].select("build", "uncurated_snapshot_id").iter_rows())
    assert builds == {
        "b1": snapshot_id_of(first, curated=False),
        "b2": snapshot_id_of(second, curated=False),
    }
    sorts = dict(tables(home, "snapshots")["snapshots"].select("snapshot_id", "curated").iter_rows())
    assert {snapshot_id for snapshot_id, curated in sorts.items() if not curated} == set(builds.values())
    assert sorts[snapshot_id_of(store_after(home, "b2"))]
