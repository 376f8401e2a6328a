"""One more try for an answer that could not be used: which errors are worth one, and what it says."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.engines.rules import RulesStandIn
from prompts.inducer import induce
from prompts.language_model import AnswerError, ModelAnswer, ModelRequest
from prompts.responses import read_answer
from prompts.second_try import MENDABLE, second_try
from tests.engine_contract import answers_of_the_stand_in, questions
from tests.test_inducer import failure
from warehouse.domains import Domain, load_domain

REQUEST = questions(load_domain("minecraft"))[0]


@pytest.mark.parametrize("reason", sorted(MENDABLE))
def test_a_mendable_error_is_told_at_the_end_of_the_same_prompt(reason: str) -> None:
    again = second_try(REQUEST, AnswerError(reason=reason, detail="remedy.why: too long"))  # type: ignore[arg-type]
    assert again is not None
    assert again.user.startswith(REQUEST.user)
    assert f'"{reason}: remedy.why: too long"' in again.user
    assert ("fewer words" in again.user) is (reason == "length")
    assert (again.system, again.situation) == (REQUEST.system, REQUEST.situation)
    assert again.template == f"{REQUEST.template}+again_v1"
    assert again.request_id != REQUEST.request_id


@pytest.mark.parametrize("reason", ["abstained", "refusal", "engine", "timeout"])
def test_other_errors_are_no_reason_to_ask_again(reason: str) -> None:
    assert second_try(REQUEST, AnswerError(reason=reason, detail="x")) is None  # type: ignore[arg-type]


def test_nobody_is_asked_a_third_time() -> None:
    error = AnswerError(reason="schema", detail="x")
    again = second_try(REQUEST, error)
    assert again is not None
    assert second_try(again, error) is None


@given(st.text(max_size=400))
def test_what_a_model_said_wrong_cannot_break_out_of_its_quotation(said: str) -> None:
    error = AnswerError(reason="schema", detail=said.encode("utf-8", "replace").decode())
    again = second_try(REQUEST, error)
    assert again is not None
    added = again.user[len(REQUEST.user) :]
    assert added.strip().count("\n") == 1
    assert not set("<>`|[]{}") & set(added)


class Stumbling:
    """A model whose first answers to everything cannot be used."""

    name = "stumbling"

    def __init__(self, answers: dict[str, str], stumbles: str) -> None:
        self.answers = answers
        self.stumbles = stumbles
        self.batches: list[int] = []

    def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
        self.batches.append(len(requests))
        return [self._answer(request) for request in requests]

    def _answer(self, request: ModelRequest) -> ModelAnswer:
        first = request.user in self.answers
        original = next(user for user in self.answers if request.user.startswith(user))
        return read_answer(request, self.name, self.stumbles if first else self.answers[original])


def test_inducer_asks_once_more_for_all_that_can_be_mended(minecraft: Domain) -> None:
    facts = [
        failure("craft", target, "MISSING_STATION", missing={"crafting_table": 0}, episode=target)
        for target in ("stone_axe", "stone_hoe")
    ]
    model = Stumbling({}, '{"decision": "propose"}')
    [*asked] = induce(facts, minecraft, RulesStandIn(minecraft), "b1").requests
    model.answers = answers_of_the_stand_in(minecraft, asked)
    found = induce(facts, minecraft, model, "b1")
    assert model.batches == [2, 2]
    assert len(found.candidates) == 2
    assert [answer.error and answer.error.reason for answer in found.answers] == [
        "schema",
        "schema",
        None,
        None,
    ]
    for request, answer in zip(found.requests, found.answers, strict=True):
        assert answer.request_id == request.request_id


def test_a_model_that_stumbles_again_is_let_go(minecraft: Domain) -> None:
    fact = failure("craft", "stone_axe", "MISSING_STATION", missing={"crafting_table": 0})
    [request] = induce([fact], minecraft, RulesStandIn(minecraft), "b1").requests
    model = Stumbling({request.user: "no"}, "no")
    found = induce([fact], minecraft, model, "b1")
    assert model.batches == [1, 1]
    assert found.candidates == ()
    assert [answer.error and answer.error.reason for answer in found.answers] == ["invalid_json"] * 2
