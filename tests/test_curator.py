"""Curator as a whole: good candidates in, bad ones out, by the rule that they break."""

from dataclasses import replace
from random import Random
from typing import get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.case_templates import cases, templates, tool_segment
from tests.good_cases import (
    DOMAIN,
    Case,
    fact,
    log_skill,
    planks_skill,
    state,
    station_remedy,
    step,
    stuck_remedy,
    success,
    where,
)
from tests.mutation import Sort
from tests.mutators import MUTATORS, Mutator
from warehouse.curator import Curation, CuratorSettings, curate
from warehouse.entries import Review, Usage, Verdict
from warehouse.facts import FeedbackFact
from warehouse.ids import canonical_bytes, derive_id
from warehouse.knowledge import Candidate, RemedyContent, Risk


def facts_of(*drawn: Case) -> dict[str, FeedbackFact]:
    return {one: known for case in drawn for one, known in case.facts.items()}


def passed(
    *drawn: Case, usage: tuple[Usage, ...] = (), after: Curation | None = None, episodes: int = 1
) -> Curation:
    store = after.store if after else {}
    candidates = [case.candidate for case in drawn]
    return curate(
        candidates, facts_of(*drawn), store, usage, DOMAIN, CuratorSettings(min_support_episodes=episodes)
    )


def uses(entry_id: str, *outcomes: bool | None) -> tuple[Usage, ...]:
    return tuple(
        Usage(
            entry_id=entry_id,
            feedback_id=derive_id("used", [entry_id, place]),
            episode_id=derive_id("used in", [entry_id, place]),
            won=won,
        )
        for place, won in enumerate(outcomes)
    )


@settings(deadline=None)
@given(cases())
def test_good_candidates_are_accepted(case: Case) -> None:
    result = passed(case)
    (decision,) = result.decisions
    assert decision.reasons == ()
    assert decision.verdict == "accepted"
    (entry,) = result.store.values()
    assert entry.entry_id == case.candidate.entry_id
    episodes = len({known.episode_id for known in case.facts.values()})
    assert entry.support_episodes == episodes
    assert entry.confidence == pytest.approx({1: 2 / 3}.get(episodes, 3 / 4), abs=1e-6)


def review(case: Case, verdict: Verdict, model: str = "reviewer") -> Review:
    return Review(
        candidate_id=case.candidate.candidate_id,
        entry_id=case.candidate.entry_id,
        verdict=verdict,
        reason="too narrow",
        request_id="r",
        model=model,
        template="curator_v1",
    )


def test_one_review_that_refuses_is_enough_and_none_lets_in_what_the_checks_refused() -> None:
    good, other = planks_skill("oak"), log_skill("birch")
    bad = other.with_candidate(support=())
    reviews = [review(good, "accepted"), review(good, "rejected", "second"), review(bad, "accepted")]

    result = curate([good.candidate, bad.candidate], facts_of(good, bad), {}, [], DOMAIN, reviews=reviews)

    reasons = {
        one.candidate_id: [(reason.rule, reason.detail) for reason in one.reasons] for one in result.decisions
    }
    assert reasons[good.candidate.candidate_id] == [("review", "second: too narrow")]
    assert [rule for rule, _ in reasons[bad.candidate.candidate_id]] == ["unsupported"]
    assert result.store == {}
    accepted = curate([good.candidate], good.facts, {}, [], DOMAIN, reviews=[review(good, "accepted")])
    assert accepted == curate([good.candidate], good.facts, {}, [], DOMAIN)


def test_a_refusal_by_the_checks_is_not_said_twice() -> None:
    bad = planks_skill("oak").with_candidate(support=())
    result = curate([bad.candidate], {}, {}, [], DOMAIN, reviews=[review(bad, "rejected")])
    assert [reason.rule for reason in result.decisions[0].reasons] == ["unsupported"]


@pytest.mark.parametrize("mutator", MUTATORS, ids=lambda mutator: mutator.name)
@settings(max_examples=8, deadline=None)
@given(drawn=st.tuples(*templates()), seed=st.integers(0, 2**32))
def test_bad_candidates_are_rejected_by_the_rule_they_break(
    mutator: Mutator, drawn: tuple[Case, ...], seed: int
) -> None:
    mutants = [bad for case in drawn if (bad := mutator.apply(case, Random(seed))) is not None]
    assume(mutants)
    for bad in mutants:
        result = curate([bad.candidate], bad.facts, bad.store, (), DOMAIN)
        decision = next(one for one in result.decisions if one.candidate_id == bad.candidate.candidate_id)
        assert decision.verdict == "rejected"
        assert mutator.rule in {reason.rule for reason in decision.reasons}
        assert result.store.keys() == bad.store.keys()


def test_there_are_enough_single_faults() -> None:
    assert len({mutator.name for mutator in MUTATORS}) == len(MUTATORS) >= 60
    of_one_candidate = {"schema", "match", "exec", "specific", "evidence", "repeats_action", "unsupported"}
    assert {mutator.rule for mutator in MUTATORS} == {*of_one_candidate, "conflict"}
    assert {mutator.sort for mutator in MUTATORS} == set(get_args(Sort))


@settings(max_examples=40, deadline=None)
@given(st.lists(cases(), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_matters(drawn: list[Case], random: Random) -> None:
    once = passed(*drawn)
    shuffled = [*drawn, *drawn]
    random.shuffle(shuffled)
    assert passed(*shuffled) == once
    again = passed(*drawn, after=once)
    assert again.store == once.store
    assert again.decisions == once.decisions
    assert list(once.store) == sorted(once.store)
    assert len({decision.decision_id for decision in once.decisions}) == len(once.decisions)


def other_episode(case: Case, number: int) -> Case:
    """The same candidate, from another episode and build."""
    facts = {}
    for one, known in case.facts.items():
        new = derive_id("feedback", [number, one])
        facts[new] = replace(known, feedback_id=new, episode_id=derive_id("episode", number))
    candidate = case.with_candidate(support=tuple(facts), build=f"b{number}").candidate
    return Case(candidate, facts)


def test_support_is_the_union_and_counts_episodes() -> None:
    case = log_skill("oak")
    first = passed(case)
    more = other_episode(case, 12)
    second = passed(more, after=first)
    (entry,) = second.store.values()
    assert entry.support_episodes == 2
    assert (entry.first_build, entry.last_build, entry.version) == ("b1", "b12", 2)
    assert entry == passed(case, more).store[entry.entry_id].model_copy(update={"version": 2})


def test_repeats_inside_one_episode_count_once() -> None:
    case = log_skill("oak")
    (known,) = case.facts.values()
    twin = replace(known, feedback_id=derive_id("feedback", "twin"), attempt=99)
    both = Case(
        case.with_candidate(support=(known.feedback_id, twin.feedback_id)).candidate,
        {known.feedback_id: known, twin.feedback_id: twin},
    )
    (entry,) = passed(both).store.values()
    assert (len(entry.support), entry.support_episodes) == (2, 1)


def test_a_segment_is_the_evidence_of_one_episode() -> None:
    case = tool_segment("oak", "axe")
    (entry,) = passed(case).store.values()
    assert (len(entry.support), entry.support_episodes) == (5, 1)


def test_builds_are_in_the_order_in_which_the_fold_takes_them() -> None:
    (entry,) = passed(other_episode(log_skill("oak"), 2), other_episode(log_skill("oak"), 10)).store.values()
    assert (entry.first_build, entry.last_build) == ("b10", "b2"), "by plain names: 10 comes before 2"


def test_too_few_episodes_do_not_support_an_entry() -> None:
    case = log_skill("oak")
    (decision,) = passed(case, episodes=2).decisions
    assert [reason.rule for reason in decision.reasons] == ["unsupported"]
    # Two candidates for one entry stand together.
    both = passed(case, other_episode(case, 12), episodes=2)
    assert {each.verdict for each in both.decisions} == {"accepted"}


def test_outcomes_of_use_are_counted_anew_in_each_pass() -> None:
    case = log_skill("oak")
    first = passed(case)
    log = uses(case.candidate.entry_id, True, True, False, None)
    second = passed(after=first, usage=log)
    (entry,) = second.store.values()
    assert (entry.uses, entry.wins, entry.version) == (3, 2, 2)
    assert entry.confidence == pytest.approx((1 + 2 + 1) / (2 + 3 + 1), abs=1e-6)
    assert passed(after=second, usage=log).store == second.store


def test_an_entry_whose_use_is_lost_again_and_again_is_retired_and_says_so() -> None:
    case = log_skill("oak")
    entry_id = case.candidate.entry_id
    result = passed(after=passed(case), usage=uses(entry_id, *[False] * 8))
    assert result.store[entry_id].status == "retired"
    (decision,) = result.decisions
    assert (decision.candidate_id, decision.verdict) == (entry_id, "rejected")
    assert "8 of 8" in decision.reasons[0].detail
    # Proposed once more, it stays out; what it wins brings it back.
    again = passed(case, after=result, usage=uses(entry_id, *[False] * 8))
    assert [each.verdict for each in again.decisions] == ["rejected"]
    better = passed(after=result, usage=uses(entry_id, *[False] * 8, *[True] * 8))
    assert better.store[entry_id].status == "active"


# C_conflict


def mine_birch_instead(rows: int = 1) -> Case:
    """A remedy that replaces the mining of oak. One episode more than it cites has shown the failure."""
    seen = [
        fact(30 + number, "mine", "oak_log", state({}, seen=["birch_log"]), failure_type="NAV_STUCK")
        for number in range(rows + 1)
    ]
    drawn = seen[:rows]
    content = RemedyContent(
        risk=Risk(kind="mine", target="oak_log", failure_type="NAV_STUCK"),
        repair=(step("mine", "birch_log"),),
    )
    candidate = Candidate(
        domain=DOMAIN.name,
        type="remedy",
        trigger=(where("target", "eq", "oak_log"), where("failure_type", "eq", "NAV_STUCK")),
        content=content,
        support=tuple(known.feedback_id for known in drawn),
        build="b2",
    )
    return Case(candidate, {known.feedback_id: known for known in seen})


def mine_oak(rows: int) -> Case:
    """The skill of mining oak, with so many episodes behind it."""
    case = log_skill("oak")
    drawn = [success(50 + number, "mine", "oak_log", state({}), {"oak_log": 5}) for number in range(rows)]
    facts = {known.feedback_id: known for known in drawn}
    return Case(case.with_candidate(support=tuple(facts)).candidate, facts)


def test_what_contradicts_knowledge_of_high_confidence_is_rejected() -> None:
    skill, remedy = mine_oak(3), mine_birch_instead(2)
    first = passed(skill)
    second = passed(remedy, after=first)
    (decision,) = second.decisions
    assert decision.verdict == "rejected"
    assert [reason.rule for reason in decision.reasons] == ["conflict"]
    assert decision.conflict_with == (skill.candidate.entry_id,)
    assert second.store == first.store
    assert passed(remedy, skill).store == first.store


def test_between_two_that_are_unsure_both_stand_and_both_are_logged() -> None:
    skill, remedy = mine_oak(1), mine_birch_instead(1)
    result = passed(skill, remedy)
    assert {entry.status for entry in result.store.values()} == {"active"}
    by_candidate = {decision.candidate_id: decision for decision in result.decisions}
    assert by_candidate[skill.candidate.candidate_id].conflict_with == (remedy.candidate.entry_id,)
    assert by_candidate[remedy.candidate.candidate_id].conflict_with == (skill.candidate.entry_id,)


def test_the_stronger_candidate_retires_the_weaker_entry() -> None:
    skill, remedy = mine_oak(1), mine_birch_instead(4)
    result = passed(remedy, after=passed(skill))
    assert result.store[skill.candidate.entry_id].status == "retired"
    assert result.store[remedy.candidate.entry_id].status == "active"
    accepted, retired = result.decisions
    assert (accepted.verdict, accepted.conflict_with) == ("accepted", (skill.candidate.entry_id,))
    assert (retired.entry_id, retired.verdict) == (skill.candidate.entry_id, "rejected")
    assert retired.conflict_with == (remedy.candidate.entry_id,)
    assert passed(remedy, after=result).store == result.store


def test_use_decides_a_conflict_later() -> None:
    skill, remedy = mine_oak(1), mine_birch_instead(1)
    both = passed(skill, remedy)
    log = (*uses(skill.candidate.entry_id, True, True), *uses(remedy.candidate.entry_id, False))
    settled = passed(after=both, usage=log)
    assert settled.store[remedy.candidate.entry_id].status == "retired"
    assert settled.store[skill.candidate.entry_id].status == "active"


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.permutations(["skill", "remedy", "other"]))
def test_conflicts_do_not_depend_on_the_order(many: int, few: int, order: list[str]) -> None:
    named = {"skill": mine_oak(many), "remedy": mine_birch_instead(few), "other": planks_skill("oak")}
    result = passed(*(named[name] for name in order))
    assert result == passed(*named.values())
    if max(many, few) > 1:
        stands = {named[name].candidate.entry_id for name in ("skill", "remedy")} & result.store.keys()
        assert len(stands) == 1


def test_what_was_merged_stays_merged_when_it_is_proposed_again() -> None:
    one, other = station_remedy("oak", "axe"), station_remedy("birch", "axe")
    wide = other.with_candidate(
        trigger=tuple(each for each in other.candidate.trigger if each.field != "kind")
    )
    result = passed(one, wide)
    assert result.store[one.candidate.entry_id].merged_into == wide.candidate.entry_id
    again = passed(one, after=result)
    assert again.store == result.store
    (decision,) = again.decisions
    assert (decision.verdict, decision.merged_into) == ("accepted", wide.candidate.entry_id)


def test_decisions_tell_the_reasons_of_every_candidate() -> None:
    good, bad = stuck_remedy("oak"), stuck_remedy("birch").with_candidate(support=())
    result = passed(good, bad)
    verdicts = {decision.candidate_id: decision for decision in result.decisions}
    assert verdicts[good.candidate.candidate_id].verdict == "accepted"
    assert verdicts[bad.candidate.candidate_id].reasons[0].rule == "unsupported"
    assert [decision.candidate_id for decision in result.decisions] == sorted(verdicts)


def test_nothing_happens_without_candidates_and_usage() -> None:
    result = passed(stuck_remedy("oak"), log_skill("birch"))
    assert passed(after=result) == Curation(result.store, ())


def test_an_entry_that_was_stored_and_read_back_is_no_new_version() -> None:
    case = station_remedy("oak", "axe", rows=4)
    once = passed(case)
    reread = {
        one: type(entry).model_validate_json(canonical_bytes(entry)) for one, entry in once.store.items()
    }
    assert passed(case, after=Curation(reread, ())).store == once.store
