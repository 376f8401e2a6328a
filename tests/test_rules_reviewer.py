"""The stand-in as reviewer: the two faults that it knows, and that it keeps everything else."""

from typing import Any

import pytest
from hypothesis import given, settings

from prompts.engines.rules import RulesStandIn
from prompts.language_model import ModelRequest
from prompts.review import ReviewResponse, Summary, review_request
from prompts.tokens import PieceCounter
from tests.case_templates import cases
from tests.good_cases import (
    DOMAIN,
    Case,
    check,
    ingredient_remedy,
    log_skill,
    planks_skill,
    station_remedy,
    step,
    stuck_remedy,
    where,
)
from tests.test_curator import passed
from warehouse.entries import Entry
from warehouse.knowledge import RemedyContent

RULES = RulesStandIn(DOMAIN)


def question(case: Case, *known: Entry) -> ModelRequest:
    return review_request(case.candidate, case.facts, Summary(known, DOMAIN, PieceCounter()), DOMAIN)


def verdict(case: Case, *known: Entry) -> ReviewResponse:
    [answer] = RULES.generate([question(case, *known)])
    assert isinstance(answer.value, ReviewResponse)
    return answer.value


def entry(case: Case, **changes: Any) -> Entry:
    (stored,) = passed(case).store.values()
    return Entry.model_validate({**dict(stored), **changes})


@settings(deadline=None)
@given(cases())
def test_good_candidates_are_kept(case: Case) -> None:
    assert verdict(case).verdict == "keep"


def test_a_repair_that_begins_with_what_failed_is_refused() -> None:
    case = station_remedy("oak", "axe")
    again = (step("craft", "wooden_axe"), step("use", "crafting_table"), step("craft", "wooden_axe"))
    said = verdict(case.with_content(repair=again))
    assert said.verdict == "reject"
    assert "craft wooden_axe" in said.reason
    other = (step("craft", "wooden_hoe"), *again[1:])
    assert verdict(case.with_content(repair=other)).verdict == "keep"


def narrower(case: Case) -> Case:
    return case.with_candidate(trigger=(*case.candidate.trigger, where("gui", "eq", "none")))


def noted(case: Case, note: str) -> Case:
    assert isinstance(case.candidate.content, RemedyContent)
    return case.with_content(risk=case.candidate.content.risk.model_copy(update={"note": note}))


def test_what_a_known_entry_tells_under_the_same_conditions_is_refused() -> None:
    known = entry(station_remedy("oak", "axe"))
    case = station_remedy("birch", "axe").with_content(scope="task_global")
    said = verdict(case, known)
    assert said.verdict == "reject"
    assert known.entry_id[:8] in said.reason


@pytest.mark.parametrize(
    ("case", "known"),
    [
        # Curator makes one entry of these two, and adds up what stands behind them.
        (noted(station_remedy("oak", "axe"), "no table stood there"), station_remedy("birch", "axe")),
        # One of them has a condition more, which may be what was learnt.
        (station_remedy("oak", "axe").with_content(scope="task_global"),
         narrower(station_remedy("oak", "axe"))),
        (narrower(station_remedy("oak", "axe")).with_content(scope="task_global"),
         station_remedy("oak", "axe")),
        # Other steps, another failure, another action.
        (station_remedy("oak", "axe").with_content(repair=(step("use", "crafting_table"),)),
         station_remedy("oak", "axe")),
        (station_remedy("oak", "axe"), station_remedy("oak", "hoe")),
        (stuck_remedy("oak"), log_skill("oak")),
        (ingredient_remedy("oak", "axe"), ingredient_remedy("birch", "axe")),
    ],
    ids=["merged", "wider", "narrower", "other steps", "other target", "other type", "other wood"],
)  # fmt: skip
def test_what_adds_something_is_kept(case: Case, known: Case) -> None:
    assert verdict(case, entry(known)).verdict == "keep"


def test_a_skill_that_differs_in_its_checks_alone_adds_nothing() -> None:
    case = planks_skill("oak")
    known = entry(case)
    stricter = case.with_candidate(
        verification=(*case.candidate.verification, check("alive")),
    )
    assert verdict(stricter, known).verdict == "reject"


def test_its_answers_do_not_depend_on_what_it_believes() -> None:
    request = question(station_remedy("oak", "axe"), entry(station_remedy("oak", "hoe")))
    mistaken = RulesStandIn(DOMAIN, seed=3, misconceptions=0.5)
    assert [answer.raw for answer in mistaken.generate([request])] == [
        answer.raw for answer in RULES.generate([request])
    ]
