"""The back-test: a candidate's conditions before attempts that it was not drawn from."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from prompts.engines.rules import RulesStandIn
from prompts.inducer import induce
from rollouts.ingest.importing import discover, import_source
from rollouts.monitor.feedback import monitor
from rollouts.trace import Trace
from tests.good_cases import (
    DOMAIN,
    Case,
    fact,
    ingot_skill,
    log_skill,
    planks_skill,
    state,
    station_remedy,
    stuck_remedy,
    success,
    where,
    wooden_tool_skill,
)
from tests.pickaxe_attempts import AWAY, BESIDE, cry_wolf, failed, made, numbered, other
from warehouse.backtest import Backtest, Bounds, backtests, wilson
from warehouse.curator import Curation, CuratorSettings, curate, curator_settings
from warehouse.domains import Domain
from warehouse.facts import NO_EVIDENCE, Cause, FeedbackFact, facts_from
from warehouse.grammar import action_of
from warehouse.knowledge import Candidate

REMEDY = station_remedy("oak", "pickaxe")
"""Fires on attempts at a wooden pickaxe with no crafting table in reach."""


def back_tested(case: Case, *record: FeedbackFact, **more: Any) -> Backtest:
    """The back-test of one candidate on its own evidence and a record."""
    one = case.candidate.candidate_id
    return backtests({one: case.candidate}, {**case.facts, **numbered(record)}, DOMAIN, **more)[one]


def passed(case: Case, *record: FeedbackFact, settings: CuratorSettings | None = None) -> Curation:
    facts = {**case.facts, **numbered(record)}
    return curate([case.candidate], facts, {}, (), DOMAIN, settings)


def counts(found: Backtest) -> dict[str, int]:
    """The counts that are not 0."""
    names = ("fired", "hits", "successes", "quiet", "missed", "unknown")
    return {name: getattr(found, name) for name in names if getattr(found, name)}


def test_a_trigger_that_holds_mostly_before_successes_is_rejected_with_its_figures() -> None:
    result = passed(REMEDY, *cry_wolf())

    (decision,) = result.decisions
    assert (decision.verdict, result.store) == ("rejected", {})
    (reason,) = decision.reasons
    assert reason.rule == "backtest"
    assert "fired on 40 in 40 episodes, 3 failed so, 35 succeeded" in reason.detail
    (figures,) = result.backtests
    assert figures.precision == pytest.approx(3 / 40)
    assert figures.candidate_id == decision.candidate_id


def test_switched_off_it_rejects_nothing_and_has_no_figures() -> None:
    result = passed(REMEDY, *cry_wolf(), settings=curator_settings(backtest=False))

    assert [each.verdict for each in result.decisions] == ["accepted"]
    assert result.backtests == ()
    assert curator_settings(backtest=True) == CuratorSettings()


def test_a_trigger_that_holds_before_its_failure_passes() -> None:
    found = back_tested(REMEDY, *(failed(number) for number in range(6)), made(6), made(7, BESIDE))

    assert counts(found) == {"fired": 7, "hits": 6, "successes": 1, "quiet": 1}
    assert (found.verdict, found.precision, found.recall) == ("passed", pytest.approx(6 / 7, abs=1e-6), 1.0)


@pytest.mark.parametrize("firings", [0, 1, 4, 5, 30])
def test_few_firings_decide_nothing(firings: int) -> None:
    found = back_tested(REMEDY, *(made(number) for number in range(firings)))

    assert found.fired == firings
    assert found.verdict == ("rejected" if firings == 30 else "undecided")
    assert ("fewer than 5" in found.detail) == (firings < 5)
    assert (found.precision is None) == (firings == 0)
    assert passed(REMEDY, *(made(n) for n in range(firings))).decisions[0].verdict == (
        "rejected" if firings == 30 else "accepted"
    )


def test_recall_counts_what_failed_so_where_it_did_not_fire() -> None:
    found = back_tested(REMEDY, failed(0), failed(1), failed(2, BESIDE), other(3, BESIDE))

    assert counts(found) == {"fired": 2, "hits": 2, "quiet": 2, "missed": 1}
    assert found.recall == pytest.approx(2 / 3, abs=1e-6)


def test_what_it_was_drawn_from_does_not_confirm_it() -> None:
    cited = next(iter(REMEDY.facts.values()))
    same_episode = replace(failed(0), episode_id=cited.episode_id)

    assert back_tested(REMEDY, same_episode).attempts == 0
    assert back_tested(REMEDY, failed(0)).fired == 1
    assert passed(REMEDY, *(replace(one, episode_id=cited.episode_id) for one in cry_wolf())).store


def test_an_unknown_field_neither_fires_nor_stays_quiet() -> None:
    blind = [failed(number, {**AWAY, "near": None}) for number in range(8)]
    found = back_tested(REMEDY, *blind)

    assert counts(found) == {"unknown": 8}
    assert (found.verdict, found.precision, found.recall) == ("undecided", None, None)


def test_a_false_condition_outweighs_an_unknown_one() -> None:
    both = REMEDY.with_candidate(trigger=(*REMEDY.candidate.trigger, where("inventory.stick", "ge", 4)))
    found = back_tested(both, other(0, {**BESIDE, "inventory": None}), other(1, {**AWAY, "inventory": None}))

    assert counts(found) == {"quiet": 1, "unknown": 1}


def test_the_environment_and_the_undecided_are_no_evidence() -> None:
    record = [
        failed(0, failure_type="INFRASTRUCTURE", y=None),
        failed(1, failure_type="INFRASTRUCTURE"),
        failed(2, failure_type=None, y=None),
    ]

    assert back_tested(REMEDY, *record).attempts == 0


def test_attempts_at_something_else_are_not_asked() -> None:
    axe = [replace(each, target="wooden_axe") for each in cry_wolf()]

    assert back_tested(REMEDY, *axe).attempts == 0


def test_a_risk_about_any_target_is_asked_of_all_of_its_kind() -> None:
    trigger = (where("kind", "eq", "craft"), where("failure_type", "eq", "MISSING_STATION"))
    wide = REMEDY.with_content(risk=REMEDY.candidate.content.risk.model_copy(update={"target": None}))  # type: ignore[union-attr]
    record = [failed(0), replace(failed(1), target="wooden_axe"), replace(failed(2), kind="smelt")]

    assert back_tested(wide.with_candidate(trigger=trigger), *record).attempts == 2


def test_a_cause_behind_the_first_one_is_a_hit_and_another_want_is_none() -> None:
    behind = Cause("MISSING_STATION", "crafting_table", None, {}, NO_EVIDENCE)
    record = [
        failed(0, failure_type="INVALID_ACTION", causes=(behind,)),
        failed(1, missing=("furnace",)),
        failed(2, missing=("crafting_table", "furnace")),
    ]

    assert counts(back_tested(REMEDY, *record)) == {"fired": 3, "hits": 2}


def test_a_rare_failure_that_its_conditions_single_out_is_knowledge() -> None:
    rare = [*(failed(number) for number in range(30)), *(made(number) for number in range(30, 250))]
    elsewhere = [made(number, BESIDE) for number in range(250, 550)]

    assert back_tested(REMEDY, *rare).verdict == "rejected", "without a comparison it is only rare"
    assert back_tested(REMEDY, *rare, *elsewhere).verdict == "passed"
    as_often = [failed(number, BESIDE) for number in range(550, 590)]
    assert back_tested(REMEDY, *rare, *elsewhere, *as_often).verdict == "rejected"


def test_no_condition_beside_the_action_is_nothing_to_test() -> None:
    case = stuck_remedy("oak")
    record = [success(2000 + number, "mine", "oak_log", state({}), {"oak_log": 1}) for number in range(60)]
    found = back_tested(case, *record)

    assert (found.fired, found.hits, found.verdict) == (60, 0, "undecided")
    alive = case.with_candidate(trigger=(*case.candidate.trigger, where("alive", "eq", True)))
    assert back_tested(alive, *record).verdict == "undecided", "that holds of every living agent"
    held = case.with_candidate(trigger=(*case.candidate.trigger, where("ypos", "gt", 60)))
    assert back_tested(held, *record).verdict == "rejected"


def test_repeats_inside_one_episode_weigh_as_one() -> None:
    """Sixty attempts of three episodes are three tries of three agents: too few to be sure of anything."""
    record = [
        replace(made(number), episode_id=failed(number % 3).episode_id, attempt=number)
        for number in range(60)
    ]
    found = back_tested(REMEDY, *record)

    assert (found.fired, found.episodes, found.verdict) == (60, 3, "undecided")
    assert found.precision_high == pytest.approx(wilson(0, 3).high, abs=1e-6)


# Skills


def smelted(number: int, *, well: bool, furnace: bool = True) -> FeedbackFact:
    before = state({"iron_ore": 3, "coal": 2}, ("furnace",) if furnace else ())
    if well:
        return success(3000 + number, "smelt", "iron_ingot", before, {"iron_ingot": 3, "iron_ore": -3})
    return fact(3000 + number, "smelt", "iron_ingot", before, failure_type="SMELT_FAIL")


def test_a_skill_is_held_against_attempts_at_its_action_in_its_conditions() -> None:
    skill = ingot_skill("iron_ore")
    record = [
        *(smelted(number, well=number < 4) for number in range(6)),
        smelted(6, well=True, furnace=False),
        smelted(7, well=False, furnace=False),
    ]
    found = back_tested(skill, *record)

    assert counts(found) == {"fired": 6, "hits": 4, "successes": 4, "quiet": 2, "missed": 1}
    assert (found.verdict, found.recall) == ("passed", 0.8)


def test_a_skill_that_succeeded_once_where_it_mostly_fails_is_rejected() -> None:
    record = [smelted(number, well=False) for number in range(60)]
    result = passed(ingot_skill("iron_ore"), *record)

    assert [reason.rule for reason in result.decisions[0].reasons] == ["backtest"]
    assert "fired on 60 in 60 episodes, 0 succeeded" in result.decisions[0].reasons[0].detail


def test_a_skill_with_steps_of_its_own_is_not_blamed_for_attempts_that_left_them_out() -> None:
    skill = wooden_tool_skill("oak", "pickaxe")
    record = [
        failed(number, state({"oak_log": 4}), failure_type="MISSING_INGREDIENT") for number in range(60)
    ]
    found = back_tested(skill, *record)

    assert (found.fired, found.hits, found.verdict) == (60, 0, "undecided")


def test_a_skill_for_any_state_is_as_hard_as_its_action() -> None:
    record = [
        fact(4000 + number, "mine", "oak_log", state({}), failure_type="NAV_STUCK") for number in range(60)
    ]

    assert back_tested(log_skill("oak"), *record).verdict == "undecided"


# The gate


def test_what_is_in_the_store_is_judged_by_its_use() -> None:
    before = curate([REMEDY.candidate], REMEDY.facts, {}, (), DOMAIN)
    again = curate([REMEDY.candidate], {**REMEDY.facts, **numbered(cry_wolf())}, before.store, (), DOMAIN)

    assert again.backtests[0].verdict == "rejected"
    assert again.decisions[0].verdict == "accepted"
    assert again.store == before.store


def test_what_the_checks_refuse_is_not_tested() -> None:
    result = passed(REMEDY.with_candidate(support=()), *cry_wolf())

    assert [reason.rule for reason in result.decisions[0].reasons] == ["unsupported"]
    assert result.backtests == ()


def test_imported_evidence_is_no_sample_of_anything() -> None:
    record = cry_wolf()
    elsewhere = frozenset(each.feedback_id for each in record)

    assert back_tested(REMEDY, *record, imported=elsewhere).attempts == 0
    facts = {**REMEDY.facts, **numbered(record)}
    result = curate([REMEDY.candidate], facts, {}, (), DOMAIN, imported=elsewhere)
    assert result.decisions[0].verdict == "accepted"


def test_bounds_can_be_set() -> None:
    found = back_tested(REMEDY, *cry_wolf(), bounds=Bounds(min_precision=0.05))
    assert found.verdict == "undecided"
    assert back_tested(REMEDY, *cry_wolf(), bounds=Bounds(min_firings=41)).verdict == "undecided"


# Properties


@given(trials=st.integers(1, 400), data=st.data())
def test_the_interval_is_wilsons(trials: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, trials))
    wanted = binomtest(hits, trials).proportion_ci(method="wilson")
    assert wilson(hits, trials) == pytest.approx((wanted.low, wanted.high), abs=1e-9)


@pytest.mark.parametrize(("hits", "trials"), [(1, 0), (3, 2), (-1, 4)])
def test_no_interval_of_no_share(hits: float, trials: float) -> None:
    with pytest.raises(ValueError, match="no share"):
        wilson(hits, trials)


def drawn_record() -> st.SearchStrategy[list[FeedbackFact]]:
    """Attempts in a few episodes, of every outcome, in states that hold, do not hold and do not tell."""
    outcome = st.sampled_from([failed, made, other])
    before = st.sampled_from([AWAY, BESIDE, {**AWAY, "near": None}])
    attempt = st.tuples(outcome, before, st.integers(0, 5))
    return st.lists(attempt, max_size=25).map(
        lambda rows: [
            replace(
                make(place, where_),
                episode_id=failed(episode).episode_id,
                attempt=place,  # type: ignore[operator]
            )
            for place, (make, where_, episode) in enumerate(rows)
        ]
    )


@given(drawn_record(), st.randoms(use_true_random=False))
def test_the_figures_add_up_and_do_not_depend_on_the_order(record: list[FeedbackFact], random: Any) -> None:
    found = back_tested(REMEDY, *record)

    assert found.attempts == len(record) == found.fired + found.quiet + found.unknown
    assert found.hits + found.successes <= found.fired
    assert found.episodes <= found.fired
    shuffled = list(record)
    random.shuffle(shuffled)
    assert back_tested(REMEDY, *shuffled) == found


@given(drawn_record())
def test_candidates_that_are_tested_together_are_tested_as_if_alone(record: list[FeedbackFact]) -> None:
    cases = [REMEDY, station_remedy("birch", "pickaxe", 3), planks_skill("oak"), stuck_remedy("oak")]
    facts = numbered([*record, *(each for case in cases for each in case.facts.values())])
    candidates: dict[str, Candidate] = {case.candidate.candidate_id: case.candidate for case in cases}

    together = backtests(candidates, facts, DOMAIN)

    assert list(together) == sorted(candidates)
    for one, candidate in candidates.items():
        assert backtests({one: candidate}, facts, DOMAIN)[one] == together[one]


# Recorded runs


def test_on_real_traces_most_is_undecided_and_nothing_is_rejected_on_few_firings(
    traces: Path, minecraft: Domain
) -> None:
    facts: dict[str, FeedbackFact] = {}
    for source in discover(traces / "voyager_questllama"):
        frames = import_source(source, "b1", minecraft).frames
        feedback = monitor(Trace.of(frames), minecraft)
        facts |= facts_from(feedback, frames["attempts"], frames["events"], frames["episodes"])
    candidates = induce(facts, minecraft, RulesStandIn(minecraft), "b1").candidates

    result = curate(candidates, facts, {}, (), minecraft)

    accepted = {one.candidate_id for one in result.decisions if one.verdict == "accepted"}
    figures = {one.candidate_id: one for one in result.backtests}
    assert accepted <= figures.keys()
    assert any(one.fired for one in figures.values())
    episodes = {one: fact.episode_id for one, fact in facts.items()}
    for candidate in candidates:
        found = figures[candidate.candidate_id]
        own = {episodes[cited] for cited in candidate.support}
        at_it = [fact for fact in facts.values() if (fact.kind, fact.target) == action_of(candidate.content)]
        assert found.attempts == sum(
            fact.y is not None and fact.failure_type != "INFRASTRUCTURE" and fact.episode_id not in own
            for fact in at_it
        )
        assert found.fired >= 5 or found.verdict == "undecided"
        assert (candidate.candidate_id in accepted) == (found.verdict != "rejected")
    verdicts = Counter(one.verdict for one in figures.values())
    assert verdicts["undecided"] > len(figures) / 2, verdicts
