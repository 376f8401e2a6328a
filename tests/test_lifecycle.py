"""The life of an entry: what never becomes one, how it goes down and up, expires and makes room."""

from collections.abc import Iterable
from dataclasses import replace
from random import Random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.good_cases import DOMAIN, Case, log_skill, planks_skill, station_remedy, stuck_remedy
from tests.test_curator import mine_birch_instead, mine_oak
from warehouse.build_evidence import Evidence
from warehouse.confidence import Outcomes
from warehouse.curator import Curation, CuratorSettings, curate
from warehouse.entries import Decision, Usage
from warehouse.facts import FeedbackFact
from warehouse.fold import curator
from warehouse.ids import derive_id
from warehouse.knowledge import RemedyContent
from warehouse.lifecycle import (
    Calendar,
    LifeSettings,
    Occasion,
    Occasions,
    late,
    occasions,
    probability_below,
)
from warehouse.places import Place
from warehouse.records import from_rows
from warehouse.snapshots import freeze

OAK = log_skill("oak")
OAK_ID = OAK.candidate.entry_id
OFFERED = "snapshot"
"""a snapshot that holds whatever the store did"""
MINED: Occasions = {("mine", "oak_log"): tuple(Occasion(f"b{number}", OFFERED) for number in range(1, 10))}


def passed(
    *drawn: Case,
    after: Curation | None = None,
    usage: Iterable[Usage] = (),
    attempted: Occasions | None = None,
    build: str = "b9",
    set_back: str | None = None,
    **life: int,
) -> Curation:
    return curate(
        [case.candidate for case in drawn],
        {one: fact for case in drawn for one, fact in case.facts.items()},
        after.store if after else {},
        usage,
        DOMAIN,
        CuratorSettings(build=build, life=LifeSettings(**life)),
        calendar=Calendar(attempted or {}, DOMAIN, {OFFERED: after.store if after else ()}, set_back),
    )


def uses(build: str, *outcomes: bool | None, entry_id: str = OAK_ID) -> list[Usage]:
    return [
        Usage(
            entry_id=entry_id,
            feedback_id=derive_id("used", [entry_id, build, place]),
            episode_id=derive_id("used in", [build, place]),
            won=won,
            build=build,
        )
        for place, won in enumerate(outcomes)
    ]


def rules(decision: Decision) -> list[str]:
    return [reason.rule for reason in decision.reasons]


# Transient failures


def in_worlds(case: Case, *worlds: str | None) -> Case:
    """The case with one cited attempt per world, each in an episode of its own."""
    example = next(iter(case.facts.values()))
    facts = {}
    for number, world in enumerate(worlds):
        one = derive_id("feedback", [number, str(world)])
        place = None if world is None else Place((0.0, 64.0, 0.0), world=world)
        episode = derive_id("episode", number)
        facts[one] = replace(example, feedback_id=one, episode_id=episode, place=place)
    return Case(case.with_candidate(support=tuple(facts)).candidate, facts)


@pytest.mark.parametrize(
    ("worlds", "verdict"),
    [
        (["techtree/7"], "rejected"),
        (["techtree/7"] * 4, "rejected"),
        (["techtree/7", "techtree/8"], "accepted"),
        # A world that is not known is not known to be the same: the episode stands for it.
        ([None], "rejected"),
        ([None, None], "accepted"),
        (["techtree/7", None], "accepted"),
    ],
)
def test_a_failure_of_circumstance_in_one_world_is_no_knowledge(
    worlds: list[str | None], verdict: str
) -> None:
    result = passed(in_worlds(stuck_remedy("oak"), *worlds))
    (decision,) = result.decisions
    assert decision.verdict == verdict
    assert rules(decision) == ([] if verdict == "accepted" else ["transient"])
    assert bool(result.store) == (verdict == "accepted")


def test_another_world_may_show_the_failure_to_somebody_else() -> None:
    once = in_worlds(stuck_remedy("oak"), "techtree/7")
    elsewhere = in_worlds(stuck_remedy("oak"), None, "techtree/8")
    seen = {one: fact for one, fact in elsewhere.facts.items() if fact.place is not None}
    assert passed(Case(once.candidate, {**once.facts, **seen})).decisions[0].verdict == "accepted"
    other_failure = {one: replace(fact, failure_type="TIMEOUT") for one, fact in seen.items()}
    other_target = {one: replace(fact, target="birch_log") for one, fact in seen.items()}
    for unlike in (other_failure, other_target):
        (decision,) = passed(Case(once.candidate, {**once.facts, **unlike})).decisions
        assert rules(decision) == ["transient"]


def test_what_the_rules_of_the_game_refuse_is_the_same_in_every_world() -> None:
    (decision,) = passed(in_worlds(station_remedy("oak", "axe"), "techtree/7")).decisions
    assert decision.verdict == "accepted"


def test_a_success_in_one_world_is_knowledge() -> None:
    assert passed(in_worlds(OAK, "techtree/7")).decisions[0].verdict == "accepted"


def test_infrastructure_is_no_evidence_and_no_second_world() -> None:
    case = in_worlds(stuck_remedy("oak"), "techtree/7", "techtree/8")
    broken, whole = sorted(case.facts)
    facts: dict[str, FeedbackFact] = {
        **case.facts,
        broken: replace(case.facts[broken], failure_type="INFRASTRUCTURE", y=None),
    }
    (cited,) = passed(Case(case.candidate, facts)).decisions
    assert set(rules(cited)) == {"evidence"}
    (beside,) = passed(Case(case.with_candidate(support=(whole,)).candidate, facts)).decisions
    assert rules(beside) == ["transient"]


def test_an_undecided_use_moves_nothing() -> None:
    first = passed(OAK)
    assert passed(after=first, usage=uses("b2", *[None] * 20)).store == first.store


# Demoted, retired, and up again


def test_four_losses_demote_and_three_do_not() -> None:
    first = passed(OAK)
    assert passed(after=first, usage=uses("b2", *[False] * 3)).store[OAK_ID].status == "active"
    result = passed(after=first, usage=uses("b2", *[False] * 4))
    assert result.store[OAK_ID].status == "demoted"
    (decision,) = result.decisions
    assert (decision.verdict, decision.candidate_id, decision.build) == ("demoted", OAK_ID, "b9")
    assert rules(decision) == ["fading"]
    assert "lost 4 of its last 4 episodes" in decision.reasons[0].detail
    assert [entry.entry_id for entry in freeze(result.store.values())] == [OAK_ID]


def test_an_entry_that_helped_and_stops_helping_moves_down_and_out() -> None:
    helped = [one for number in (2, 3, 4) for one in uses(f"b{number}", *[True] * 10)]
    store = passed(OAK, usage=helped)
    assert store.store[OAK_ID].confidence > 0.9
    fading = [*helped, *uses("b5", *[False] * 9, True, True, True)]
    demoted = passed(after=store, usage=fading, build="b5")
    assert (demoted.store[OAK_ID].status, demoted.decisions[0].verdict) == ("demoted", "demoted")
    gone = passed(after=demoted, usage=[*fading, *uses("b6", *[False] * 12)], build="b6")
    assert gone.store[OAK_ID].status == "retired"
    assert gone.store[OAK_ID].confidence > CuratorSettings().retire_below, "all its uses are not why"
    assert [(each.verdict, rules(each)) for each in gone.decisions] == [("rejected", ["fading"])]
    assert freeze(gone.store.values()) == ()


def test_a_demoted_entry_comes_up_once_half_of_its_late_uses_are_won() -> None:
    log = uses("b2", *[False] * 4)
    low = passed(after=passed(OAK), usage=log, build="b2")
    log += uses("b3", True, True, True)
    still = passed(after=low, usage=log, build="b3")
    assert (still.store[OAK_ID].status, still.decisions) == ("demoted", ())
    log += uses("b4", True)
    up = passed(after=still, usage=log, build="b4")
    assert up.store[OAK_ID].status == "active"
    assert [(each.verdict, rules(each)) for each in up.decisions] == [("restored", ["restored"])]


def test_nothing_loses_a_conflict_to_what_was_demoted() -> None:
    skill, remedy = mine_oak(2), mine_birch_instead(2)
    skill_id, remedy_id = skill.candidate.entry_id, remedy.candidate.entry_id
    alone = passed(skill, usage=uses("b1", *[True] * 40, entry_id=skill_id))
    worn = [*uses("b1", *[True] * 40, entry_id=skill_id), *uses("b2", *[False] * 12, entry_id=skill_id)]
    worn += uses("b1", *[True] * 12, entry_id=skill_id)
    assert passed(remedy, after=alone, usage=worn[:40]).decisions[0].verdict == "rejected"
    faded = [*worn[:40], *uses("b3", True, True, *[False] * 10, entry_id=skill_id)]
    result = passed(remedy, after=alone, usage=faded)
    assert result.store[skill_id].confidence >= CuratorSettings().high_confidence
    assert result.store[remedy_id].status == "active"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(("b2", "b3", "b4")), st.booleans()), max_size=30),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_log_and_a_second_look_change_nothing(
    drawn: list[tuple[str, bool]], random: Random
) -> None:
    log = [
        one.model_copy(update={"episode_id": f"e{place}", "feedback_id": f"f{place}"})
        for place, (build, won) in enumerate(drawn)
        for one in uses(build, won)
    ]
    shuffled = list(log)
    random.shuffle(shuffled)
    once = passed(OAK, usage=log)
    assert passed(OAK, usage=shuffled) == once
    again = passed(after=once, usage=shuffled)
    assert (again.store, again.decisions) == (once.store, ())


def test_late_outcomes_take_builds_whole() -> None:
    record = {"b1": Outcomes(10, 10), "b2": Outcomes(8, 1), "b3": Outcomes(5, 0)}
    assert late(record, 5) == Outcomes(5, 0)
    assert late(record, 6) == late(record, 13) == Outcomes(13, 1)
    assert late(record, 99) == Outcomes(23, 11)


def test_the_probability_is_that_of_the_posterior() -> None:
    assert probability_below(0.5, Outcomes(0, 0)) == pytest.approx(0.5)
    assert probability_below(0.5, Outcomes(4, 0)) == pytest.approx(1 - 0.5**5)
    assert probability_below(0.25, Outcomes(10, 0)) == pytest.approx(1 - 0.75**11)


# Expiry


def test_an_entry_that_nothing_confirms_expires_and_comes_back_with_new_evidence() -> None:
    first = passed(OAK, build="b1")
    builds = MINED["mine", "oak_log"]
    until = {("mine", "oak_log"): builds[:5]}
    assert passed(after=first, build="b5", attempted=until).store == first.store, "four builds without"
    gone = passed(after=first, build="b6", attempted={("mine", "oak_log"): builds[:6]})
    assert gone.store[OAK_ID].status == "retired"
    assert [(each.verdict, rules(each)) for each in gone.decisions] == [("rejected", ["expired"])]
    assert "last confirmed in build b1; 5 builds since were offered it" in gone.decisions[0].reasons[0].detail
    # The same evidence again confirms nothing.
    same = passed(OAK, after=gone, build="b7", attempted=MINED)
    assert same.store[OAK_ID].status == "retired"
    assert [rules(each) for each in same.decisions] == [["expired"]]
    fresh = in_worlds(OAK, "techtree/9")
    fresh = fresh.with_candidate(build="b8")
    back = passed(fresh, after=gone, build="b8", attempted=MINED)
    assert back.store[OAK_ID].status == "active"
    assert [(each.verdict, rules(each)) for each in back.decisions] == [
        ("accepted", []),
        ("restored", ["restored"]),
    ]


def test_a_won_use_confirms_and_a_lost_one_does_not() -> None:
    first = passed(OAK, build="b1")
    won = passed(after=first, usage=uses("b7", True), attempted=MINED)
    assert won.store[OAK_ID].status == "active"
    lost = passed(after=first, usage=uses("b7", False), attempted=MINED)
    assert lost.store[OAK_ID].status == "retired"


def test_builds_without_the_occasion_do_not_count() -> None:
    first = passed(OAK, build="b1")
    elsewhere: Occasions = {
        ("mine", "birch_log"): MINED["mine", "oak_log"],
        ("craft", "oak_log"): (Occasion("b2", OFFERED),),
    }
    assert passed(after=first, attempted=elsewhere).store == first.store


def test_what_was_not_offered_does_not_expire() -> None:
    """As what is imported into an early build: those who played the later ones did not have it."""
    first = passed(OAK, build="b1")
    others = {("mine", "oak_log"): tuple(Occasion(f"b{number}", "another") for number in range(2, 9))}
    assert passed(after=first, attempted=others).store == first.store


def test_what_a_rollback_brought_back_has_its_time_again() -> None:
    first = passed(OAK, build="b1")
    assert passed(after=first, attempted=MINED, set_back="b6").store == first.store
    assert passed(after=first, attempted=MINED, set_back="b4").store[OAK_ID].status == "retired"


def test_occasions_are_attempts_with_knowledge_in_builds_that_are_learnt_from() -> None:
    """The infrastructure ended e3, e4 was played without a snapshot, b5 was not learnt from."""
    episodes = pl.DataFrame(
        {
            "episode_id": ["e1", "e2", "e3", "e4", "e5"],
            "build": ["b2", "b1", "b3", "b4", "b5"],
            "snapshot_id": ["s", "s", "s", None, "s"],
        }
    )
    attempts = pl.DataFrame(
        {
            "episode_id": ["e1", "e2", "e2", "e3", "e4", "e5"],
            "kind": ["mine", "mine", None, "mine", "mine", "mine"],
            "target": ["oak_log", "oak_log", None, "oak_log", "oak_log", "oak_log"],
            "end_reason": ["success", "timeout", "timeout", "infrastructure", "success", "success"],
        }
    )
    assert occasions(episodes, attempts, {"b1", "b2", "b3", "b4"}) == {
        ("mine", "oak_log"): (Occasion("b1", "s"), Occasion("b2", "s")),
        (None, None): (Occasion("b1", "s"),),
    }


def test_the_fold_shows_curator_the_builds_that_had_the_occasion() -> None:
    store = passed(OAK, build="b1").store
    builds = [f"b{number}" for number in range(1, 7)]
    mined = {"kind": "mine", "target": "oak_log", "end_reason": "timeout"}
    evidence = Evidence(
        build="b6",
        proposed=(),
        reviews=(),
        usage=tuple(use for build in builds for use in uses(build, None)),
        episodes=from_rows(
            "episodes", [{"episode_id": one, "build": one, "snapshot_id": OFFERED} for one in builds]
        ),
        attempts=from_rows("attempts", [{"episode_id": one, **mined} for one in builds]),
        events=from_rows("events", []),
        feedback=from_rows("feedback", []),
        offered={OFFERED: frozenset({OAK_ID})},
    )
    kept = curator(DOMAIN, CuratorSettings())(replace(evidence, usage=()), store)
    assert kept.store[OAK_ID].status == "active", "nothing was learnt from these builds"
    expired = curator(DOMAIN, CuratorSettings())(evidence, store)
    assert expired.store[OAK_ID].status == "retired"
    assert [(each.build, rules(each)) for each in expired.decisions] == [("b6", ["expired"])]


# Capacity


def test_a_full_store_keeps_the_best_by_the_stated_order() -> None:
    often, late_one = in_worlds(OAK, "t/1", "t/2"), planks_skill("oak").with_candidate(build="b5")
    early = planks_skill("birch").with_candidate(build="b4")
    early = Case(early.candidate, dict(list(early.facts.items())[:1]))
    drawn = (often, late_one, log_skill("birch"))
    kept = passed(*drawn, capacity=2)
    by_id = {case.candidate.entry_id: kept.store[case.candidate.entry_id] for case in drawn}
    served = {one for one, entry in by_id.items() if entry.status == "active"}
    assert len(served) == 2
    assert often.candidate.entry_id in served
    (out,) = by_id.keys() - served
    assert by_id[out].confidence <= min(by_id[one].confidence for one in served)
    (refused,) = [each for each in kept.decisions if each.verdict == "rejected"]
    assert (refused.entry_id, rules(refused)) == (out, ["capacity"])
    assert passed(after=kept, capacity=2) == Curation(kept.store, ()), "nothing goes to and fro"
    room = passed(after=kept, capacity=3)
    assert {entry.status for entry in room.store.values()} == {"active"}
    assert [each.verdict for each in room.decisions] == ["restored"]


def test_the_demoted_make_room_first() -> None:
    sure = in_worlds(OAK, "t/1", "t/2")
    other = log_skill("birch")
    first = passed(sure, other)
    log = [*uses("b2", *[True] * 30), *uses("b3", True, True, True, *[False] * 9)]
    result = passed(after=first, usage=log, capacity=1)
    weaker = result.store[other.candidate.entry_id]
    assert result.store[OAK_ID].confidence > weaker.confidence
    assert (result.store[OAK_ID].status, weaker.status) == ("retired", "active")


# Contradictions


def test_both_sides_of_a_contradiction_stay_in_the_log_whatever_their_words() -> None:
    skill, remedy = mine_oak(2), mine_birch_instead(2)
    content = remedy.candidate.content
    assert isinstance(content, RemedyContent)
    for note in ("", "mine oak logs as ever", "take birch"):
        worded = remedy.with_content(risk=content.risk.model_copy(update={"note": note}))
        result = passed(skill, worded, usage=uses("b2", True, entry_id=skill.candidate.entry_id))
        by_entry = {each.entry_id: each for each in result.decisions}
        won, lost = by_entry[skill.candidate.entry_id], by_entry[worded.candidate.entry_id]
        assert (won.verdict, lost.verdict, rules(lost)) == ("accepted", "rejected", ["conflict"])
        assert lost.conflict_with == (skill.candidate.entry_id,)
