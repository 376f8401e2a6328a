"""Requests, answers and their rows: what an id and a cache key depend on, and that nothing else does."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from pydantic import BaseModel

from prompts.engines.rules import RulesStandIn
from prompts.language_model import ANSWER_LOG, Message, ModelAnswer, ModelRequest, answer_row
from prompts.responses import RemedyResponse, SkillResponse, failed_answer, read_answer
from warehouse.domains import Domain


class Question(BaseModel):
    about: str


def request(**changes: Any) -> ModelRequest:
    base = ModelRequest(
        role="inducer_remedy",
        template="inducer_remedy_v1",
        messages=(Message("system", "Be brief."), Message("user", "What helps?")),
        situation=Question(about="a door"),
        response=RemedyResponse,
    )
    return replace(base, **changes)


CHANGES: dict[str, dict[str, Any]] = {
    "role": {"role": "inducer_skill"},
    "template": {"template": "inducer_remedy_v2"},
    "prompt": {"messages": (Message("user", "What helps now?"),)},
    "situation": {"situation": Question(about="a window")},
    "schema": {"response": SkillResponse},
    "max_tokens": {"max_tokens": 5},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_is_asked_changes_the_request_id_and_the_cache_key(change: dict[str, Any]) -> None:
    assert request(**change).request_id != request().request_id
    assert request(**change).cache_key("m") != request().cache_key("m")


def test_who_is_asked_changes_the_cache_key_alone() -> None:
    assert request().cache_key("m") == request().cache_key("m")
    assert request().cache_key("m") != request().cache_key("n")
    answers = [failed_answer(request(), model, "engine", "down") for model in ("m", "n")]
    assert {answer.request_id for answer in answers} == {request().request_id}


def test_an_answer_row_is_the_same_each_time_and_fits_the_log() -> None:
    answer = read_answer(
        request(), "m", '{"decision": "abstain", "why": "no cause is shown", "remedy": null}', tokens_out=9
    )
    row = answer_row(request(), answer, "b1")
    assert row == answer_row(request(), answer, "b1")
    assert list(row) == ANSWER_LOG.names()
    assert (row["value"], row["error"], row["error_detail"]) == (None, "abstained", "no cause is shown")
    frame = pl.DataFrame([row], schema=ANSWER_LOG)
    assert frame["user"].to_list() == ["What helps?"]
    assert not any("time" in name or "latency" in name for name in row)


def test_an_answer_is_never_filed_under_another_request() -> None:
    answer = failed_answer(request(), "m", "engine", "down")
    with pytest.raises(ValueError, match="paired with request"):
        answer_row(request(max_tokens=7), answer, "b1")


def test_an_answer_has_a_value_or_an_error_and_not_both() -> None:
    with pytest.raises(ValueError, match="either a value or an error"):
        ModelAnswer("r", "m", raw="")


def test_the_stand_in_says_that_it_does_not_know_a_role(minecraft: Domain) -> None:
    [answer] = RulesStandIn(minecraft).generate([request(role="planner")])
    assert answer.error is not None
    assert (answer.error.reason, "planner" in answer.error.detail) == ("engine", True)
