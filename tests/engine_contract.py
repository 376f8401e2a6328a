"""What every engine promises, whatever is in it. tests/test_engines.py holds the stand-in, the openai engine
and the vllm engine (with a fake behind them) to it, tests/test_vllm.py vllm itself.

A check takes the model and requests of Inducer's roles and of the reviewer; `CHECKS` are all of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import polars as pl
from pydantic import BaseModel

from prompts.engines.rules import RulesStandIn
from prompts.inducer import requests_for
from prompts.language_model import ANSWER_LOG, LanguageModel, Message, ModelRequest, answer_row
from prompts.review import Summary, review_request
from prompts.tokens import PieceCounter
from tests.good_cases import log_skill, station_remedy
from tests.test_curator import passed
from tests.test_inducer import failure, state, success
from warehouse.domains import Domain

UNANSWERABLE: Final = "TOO LONG "


class Unheard(BaseModel):
    """A situation that no role has."""


def questions(domain: Domain) -> list[ModelRequest]:
    """Requests of both of Inducer's roles, few and short."""
    station = {"crafting_table": 0}
    facts = [
        failure("craft", "stone_axe", "MISSING_STATION", missing=station, before=state({"stick": 2})),
        failure("smelt", "iron_ingot", "NO_FUEL", episode="e1", before=state({"raw_iron": 1})),
        success("mine", "oak_log", [("mine", "oak_log", 2)], {"oak_log": 2}, episode="e2", before=state({})),
    ]
    return requests_for(facts, domain)


def review_question(domain: Domain) -> ModelRequest:
    """A request for a review, with a summary of what is known."""
    case = station_remedy("oak", "axe")
    known = passed(station_remedy("oak", "pickaxe"), log_skill("oak")).store.values()
    return review_request(case.candidate, case.facts, Summary(known, domain, PieceCounter()), domain)


def contract_questions(domain: Domain) -> list[ModelRequest]:
    """What the checks ask: one more role than `questions`."""
    return [*questions(domain), review_question(domain)]


def answers_of_the_stand_in(domain: Domain, requests: Sequence[ModelRequest]) -> dict[str, str]:
    """What a fake model says, by the user turn's text."""
    given = RulesStandIn(domain).generate(requests)
    return {request.user: answer.raw for request, answer in zip(requests, given, strict=True)}


def one_answer_each_in_their_order(model: LanguageModel, requests: Sequence[ModelRequest]) -> None:
    for asked in (requests, requests[::-1], requests[:1]):
        answers = model.generate(asked)
        assert [answer.request_id for answer in answers] == [request.request_id for request in asked]
        assert {answer.model for answer in answers} == {model.name}


def nothing_asked_is_nothing_answered(model: LanguageModel, requests: Sequence[ModelRequest]) -> None:
    assert model.generate([]) == []


def an_answer_is_of_the_asked_shape_or_says_why_not(
    model: LanguageModel, requests: Sequence[ModelRequest]
) -> None:
    for request, answer in zip(requests, model.generate(requests), strict=True):
        assert (answer.value is None) != (answer.error is None)
        assert answer.value is None or type(answer.value) is request.response
        assert answer.error is None or answer.error.reason not in ("engine", "timeout")


def the_same_questions_get_the_same_answers(model: LanguageModel, requests: Sequence[ModelRequest]) -> None:
    assert model.generate(requests) == model.generate(requests)


def the_books_are_complete(model: LanguageModel, requests: Sequence[ModelRequest]) -> None:
    answers = model.generate(requests)
    rows = [answer_row(request, answer, "b1") for request, answer in zip(requests, answers, strict=True)]
    frame = pl.DataFrame(rows, schema=ANSWER_LOG)
    assert frame.select("answer_id", "cache_key", "request_id").null_count().row(0) == (0, 0, 0)
    assert frame["answer_id"].n_unique() == len(requests)
    assert (frame["tokens_in"] > 0).all()
    assert (frame["tokens_out"] > 0).all()
    assert frame["value"].is_null().eq(frame["error"].is_not_null()).all()
    for answer in answers:
        assert answer.spent.cached is False
        assert (answer.spent.tokens_reused or 0) <= (answer.tokens_in or 0)


def what_cannot_be_answered_costs_no_other(model: LanguageModel, requests: Sequence[ModelRequest]) -> None:
    """The stand-in has no limit of length; there it is a role that it does not know."""
    hopeless = replace(
        requests[0], role="curator", situation=Unheard(), messages=(Message("user", UNANSWERABLE * 9000),)
    )
    answers = model.generate([*requests[:1], hopeless, *requests[1:]])
    failed = [answer.error for answer in answers]
    assert failed[1] is not None
    assert failed[1].reason == "engine"
    assert failed[1].detail
    for error in (failed[0], *failed[2:]):
        assert error is None or error.reason not in ("engine", "timeout")


CHECKS: Final[tuple[Callable[[LanguageModel, Sequence[ModelRequest]], None], ...]] = (
    one_answer_each_in_their_order,
    nothing_asked_is_nothing_answered,
    an_answer_is_of_the_asked_shape_or_says_why_not,
    the_same_questions_get_the_same_answers,
    the_books_are_complete,
    what_cannot_be_answered_costs_no_other,
)
