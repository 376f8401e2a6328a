"""Where an entry can be tried out: which of an episode's states, and the way there."""

from dataclasses import replace

import polars as pl
import pytest

from rollouts.attempt import Stage
from rollouts.backends import stage_kit
from rollouts.budget import CallBudget
from rollouts.protocols import Branching
from rollouts.recorder import AttemptRecord, Cast, EpisodeRecord, trace_of
from rollouts.situations import Past, Trial, pasts, proposals, trials_of
from rollouts.worlds.registry import COPIED, world
from rollouts.worlds.techtree.unwinnable import UNWINNABLE
from tests.fake_world import chop, subgoal
from tests.tried_world import BUILD, MAKES_STICKS, STICKS, evidence_of, failures, remedy, skill
from warehouse.build_evidence import Evidence
from warehouse.domains import Domain, load_domain
from warehouse.facts import facts_from
from warehouse.knowledge import Check, Step
from warehouse.tryouts import rules

SEEDS = (0, 2)
LOGS = chop(2, "logs", seconds=60.0)
WALK = subgoal("move", "walk", Check(type="inv_ge", name="diamond", value=1.0), seconds=3.0)
PLAN = [STICKS, LOGS, WALK]


@pytest.fixture(scope="module")
def evidence(minecraft: Domain) -> Evidence:
    """Sticks (fails), logs (brings some), a walk that brings no diamond (fails)."""
    return evidence_of(minecraft, PLAN, SEEDS)


def known(evidence: Evidence) -> dict[str, Past]:
    return pasts(evidence, evidence.episodes["episode_id"].to_list(), "scripted")


def trials(evidence: Evidence, candidate: object, arm_ticks: int | None = None) -> list[Trial]:
    facts = facts_from(evidence.feedback, evidence.attempts, evidence.events, evidence.episodes)
    (proposal,) = proposals([candidate], facts)  # type: ignore[list-item]
    cost = rules().cost.model_copy(update={"arm_ticks": arm_ticks} if arm_ticks else {})
    return trials_of(proposal, known(evidence), BUILD, rules().model_copy(update={"cost": cost}))


def test_a_world_that_cannot_be_copied_has_no_situations(evidence: Evidence) -> None:
    elsewhere = evidence.episodes.with_columns(world=pl.lit("crafter"))
    assert known(evidence)
    assert not known(replace(evidence, episodes=elsewhere))


@pytest.mark.parametrize(("name", "domain"), [("techtree", "minecraft"), ("crafter", "crafter")])
def test_the_worlds_to_try_out_in_are_those_that_can_be_copied(name: str, domain: str) -> None:
    assert isinstance(world(name, load_domain(domain), {}), Branching) == (name in COPIED)


def test_the_decisions_of_an_episode_lead_to_every_state_that_was_recorded(
    evidence: Evidence, minecraft: Domain
) -> None:
    """World and executor are deterministic: what is carried out again is, by its record, the same."""
    for past in known(evidence).values():
        stage = Stage(past.spec, UNWINNABLE, stage_kit(minecraft, "scripted"))
        observes = stage.open().observes
        runs = [stage.run(number, each) for number, each in enumerate(past.subgoals)]
        pairs = zip(runs, past.subgoals, strict=True)
        again = EpisodeRecord(
            past.spec,
            Cast("none", "none", "none"),
            observes,
            tuple(AttemptRecord(run, each, "again") for run, each in pairs),
            "recording_end",
            None,
            CallBudget(),
        )
        shown = ["start_tick", "end_tick", "success", "end_reason", "state_before", "state_after"]
        assert trace_of([again]).attempts.select(shown).equals(past.attempts.select(shown))
        assert past.attempts.height == len(PLAN)


def test_a_stage_goes_on_in_two_ways_from_one_state(evidence: Evidence, minecraft: Domain) -> None:
    """The copy does what the original does, and neither notices the other."""
    past = next(iter(known(evidence).values()))
    stage = Stage(past.spec, UNWINNABLE, stage_kit(minecraft, "scripted"))
    stage.open()
    for number, each in enumerate(past.subgoals):
        here, other = stage.now(), stage.copy()
        assert other.now() == here
        elsewhere = other.copy()
        elsewhere.run(number, chop(3, "away", seconds=20.0))
        assert stage.now() == other.now() == here
        run, again = stage.run(number, each), other.run(number, each)
        assert (again.state_after, again.end_reason) == (run.state_after, run.end_reason)
        for name in ("ticks", "events", "sightings", "inventory_changes", "moves"):
            assert getattr(again, name).equals(getattr(run, name)), name


def test_a_remedy_is_tried_out_after_the_failure_that_it_is_for(evidence: Evidence) -> None:
    found = trials(evidence, remedy(evidence, STICKS, *MAKES_STICKS))
    at_home = [each for each in found if each.wanted is None]
    assert sorted(each.world_seed for each in at_home) == list(SEEDS)
    assert {(each.place, each.failed, each.goal.subgoal_id) for each in found} == {(1, True, "sticks")}
    ends = dict(evidence.attempts.filter(attempt=0).select("episode_id", "end_tick").iter_rows())
    assert {each.episode_id: each.lead for each in at_home} == ends


def test_the_earliest_of_an_episodes_failures_is_taken(minecraft: Domain) -> None:
    twice = evidence_of(minecraft, [STICKS, STICKS], SEEDS[:1])
    candidate = remedy(twice, STICKS, *MAKES_STICKS)
    assert len(candidate.support) == 2
    assert [each.place for each in trials(twice, candidate) if each.wanted is None] == [1]


def test_other_worlds_come_last_and_each_belongs_to_one_episode(evidence: Evidence) -> None:
    candidate = remedy(evidence, WALK, *MAKES_STICKS)
    found = trials(evidence, candidate)
    elsewhere = [each for each in found if each.wanted is not None]
    assert found[-len(elsewhere) :] == elsewhere
    assert len({each.world_seed for each in found}) == len(found) == 3 * len(SEEDS)
    assert {each.wanted for each in elsewhere} == {candidate.trigger}
    leads = {each.episode_id: each.lead for each in found if each.wanted is None}
    for each in elsewhere:
        assert each.world_seed % 2 == 0
        assert each.lead == min(2 * leads[each.episode_id], rules().cost.lead_ticks)
    assert [each.lead for each in found[: len(SEEDS)]] == sorted(leads.values())


def test_a_skill_is_tried_out_before_the_way_that_it_tells_of(evidence: Evidence) -> None:
    steps = (Step(kind="craft", target="stick"), Step(kind="mine", target="#logs", count=2))
    candidate = skill(evidence, LOGS, *steps)
    found = trials(evidence, candidate)
    assert {(each.place, each.failed, each.lead) for each in found} == {(0, False, 0)}
    assert {each.goal.subgoal_id for each in found} == {"logs"}


def test_a_skill_that_took_longer_than_an_arm_may_take_is_not_tried_out(evidence: Evidence) -> None:
    """It would be cut off and look as if nothing came of it."""
    steps = (Step(kind="craft", target="stick"), Step(kind="mine", target="#logs", count=2))
    candidate = skill(evidence, LOGS, *steps)
    took = evidence.attempts.filter(attempt=1)["end_tick"]  # its way begins with the episode
    shortest, longest = int(took.min()), int(took.max())  # type: ignore[arg-type]
    assert {each.wanted is None for each in trials(evidence, candidate, longest)} == {True, False}
    assert trials(evidence, candidate, shortest - 1) == []


def test_a_skill_of_one_step_has_nothing_to_be_compared_with(evidence: Evidence) -> None:
    assert trials(evidence, skill(evidence, LOGS, Step(kind="mine", target="#logs"))) == []


@pytest.mark.parametrize("end_reason", ["horizon", "superseded", "infrastructure"])
def test_an_end_that_says_nothing_is_no_situation(evidence: Evidence, end_reason: str) -> None:
    candidate = remedy(evidence, STICKS, *MAKES_STICKS)
    assert trials(ended(evidence, end_reason), candidate) == []


def test_a_death_is_gone_back_before(evidence: Evidence) -> None:
    found = trials(ended(evidence, "death"), remedy(evidence, STICKS, *MAKES_STICKS))
    assert {(each.place, each.failed) for each in found} == {(0, False)}
    assert {each.world_seed for each in found} == set(SEEDS)


def ended(evidence: Evidence, end_reason: str) -> Evidence:
    """As if the first attempt of each episode had ended so."""
    first = pl.col("attempt") == 0
    reasons = pl.when(first).then(pl.lit(end_reason)).otherwise(pl.col("end_reason").cast(pl.String))
    own = evidence.attempts.with_columns(
        reasons.cast(evidence.attempts.schema["end_reason"]).alias("end_reason")
    )
    return Evidence(**{**vars(evidence), "attempts": own})


def test_what_lies_too_deep_is_left_alone(evidence: Evidence) -> None:
    deep = evidence.attempts.with_columns(end_tick=pl.lit(rules().cost.lead_ticks + 1, pl.Int32))
    assert (
        trials(Evidence(**{**vars(evidence), "attempts": deep}), remedy(evidence, STICKS, *MAKES_STICKS))
        == []
    )


def test_several_proposals_of_one_entry_are_one(evidence: Evidence) -> None:
    facts = facts_from(evidence.feedback, evidence.attempts, evidence.events, evidence.episodes)
    whole = remedy(evidence, STICKS, *MAKES_STICKS)
    parts = [whole.model_copy(update={"support": (each,)}) for each in failures(evidence, STICKS)]
    (proposal,) = proposals(parts, facts)
    assert sorted(fact.feedback_id for fact in proposal.cited) == sorted(whole.support)


def test_only_what_this_executor_played_can_be_carried_out_again(evidence: Evidence) -> None:
    assert pasts(evidence, evidence.episodes["episode_id"].to_list(), "another") == {}
