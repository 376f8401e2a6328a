"""Remembered answers: the same question to the same model is asked once, and what says nothing of the model
is never remembered."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from prompts.answer_cache import AnswerCache, CachedModel
from prompts.language_model import ErrorReason, Message, ModelAnswer, ModelRequest
from prompts.responses import failed_answer, read_answer
from tests.engine_contract import answers_of_the_stand_in, questions
from warehouse.domains import Domain


class Counting:
    """A model that says what it is given, and notes what it was asked."""

    def __init__(self, answers: dict[str, str], name: str = "counting") -> None:
        self.name = name
        self.answers = answers
        self.batches: list[int] = []
        self.fails: dict[str, ErrorReason] = {}
        self.finish_reason = "stop"

    def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
        self.batches.append(len(requests))
        return [self._answer(request) for request in requests]

    def _answer(self, request: ModelRequest) -> ModelAnswer:
        if reason := self.fails.get(request.user):
            return failed_answer(request, self.name, reason, "down")
        said = self.answers.get(request.user, "{}")
        return read_answer(
            request, self.name, said, finish_reason=self.finish_reason, tokens_in=11, tokens_out=3
        )


Noted = list[tuple[ModelRequest, ModelAnswer]]


@pytest.fixture(scope="module")
def requests(minecraft: Domain) -> list[ModelRequest]:
    return questions(minecraft)


@pytest.fixture
def model(minecraft: Domain, requests: list[ModelRequest]) -> Counting:
    return Counting(answers_of_the_stand_in(minecraft, requests))


def cached(model: Counting, folder: Path, batch: int = 256) -> tuple[CachedModel, Noted]:
    noted: Noted = []
    return CachedModel(model, AnswerCache(folder), lambda *each: noted.append(each), batch), noted


def test_a_second_run_asks_nothing(tmp_path: Path, model: Counting, requests: list[ModelRequest]) -> None:
    first = cached(model, tmp_path)[0].generate(requests)
    again, noted = cached(model, tmp_path)
    assert again.generate(requests) == first
    assert model.batches == [3]
    assert [answer.spent.cached for _, answer in noted] == [True] * 3
    assert [answer.tokens_in for _, answer in noted] == [11] * 3


def test_only_what_is_new_is_asked(tmp_path: Path, model: Counting, requests: list[ModelRequest]) -> None:
    asking, noted = cached(model, tmp_path)
    asking.generate(requests[:1])
    answers = asking.generate(requests)
    assert model.batches == [1, 2]
    assert [answer.request_id for answer in answers] == [request.request_id for request in requests]
    assert [answer.spent.cached for _, answer in noted] == [False, True, False, False]


def test_a_question_that_stands_there_twice_is_asked_once(
    tmp_path: Path, model: Counting, requests: list[ModelRequest]
) -> None:
    asking, noted = cached(model, tmp_path)
    answers = asking.generate([requests[0], requests[1], requests[0]])
    assert model.batches == [2]
    assert answers[0] == answers[2] != answers[1]
    assert len(noted) == 2


def test_another_model_or_another_question_is_asked(
    tmp_path: Path, model: Counting, requests: list[ModelRequest]
) -> None:
    cached(model, tmp_path)[0].generate(requests)
    other = Counting(model.answers, "another")
    cached(other, tmp_path)[0].generate(requests)
    assert other.batches == [3]
    changed = replace(requests[0], messages=(Message("user", "What now?"),))
    cached(model, tmp_path)[0].generate([changed])
    assert model.batches == [3, 1]


@pytest.mark.parametrize("reason", ["engine", "timeout"])
def test_what_says_nothing_of_the_model_is_asked_again(
    tmp_path: Path, model: Counting, requests: list[ModelRequest], reason: ErrorReason
) -> None:
    model.fails[requests[1].user] = reason
    [_, failed, _] = cached(model, tmp_path)[0].generate(requests)
    assert failed.error is not None
    model.fails.clear()
    [_, mended, _] = cached(model, tmp_path)[0].generate(requests)
    assert mended.error is None
    assert model.batches == [3, 1]


@pytest.mark.parametrize(
    ("text", "finish_reason", "reason"),
    [
        ('{"decision": "prop', "length", "length"),
        ("no", "content_filter", "refusal"),
        ("no JSON", "stop", "invalid_json"),
        ("{}", "stop", "schema"),
        ("", "stop", "empty"),
    ],
)
def test_a_models_own_failure_is_remembered_as_it_was(
    tmp_path: Path, requests: list[ModelRequest], text: str, finish_reason: str, reason: str
) -> None:
    model = Counting({requests[0].user: text})
    model.finish_reason = finish_reason
    first = cached(model, tmp_path)[0].generate(requests[:1])
    again = cached(model, tmp_path)[0].generate(requests[:1])
    assert again == first
    assert again[0].error is not None
    assert (again[0].error.reason, model.batches) == (reason, [1])


def test_what_was_answered_is_kept_when_a_later_batch_is_interrupted(
    tmp_path: Path, model: Counting, requests: list[ModelRequest]
) -> None:
    class Interrupted(Counting):
        def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
            if self.batches:
                raise KeyboardInterrupt
            return super().generate(requests)

    asking, _ = cached(Interrupted(model.answers), tmp_path, batch=2)
    with pytest.raises(KeyboardInterrupt):
        asking.generate(requests)
    cached(model, tmp_path)[0].generate(requests)
    assert model.batches == [1]


@pytest.mark.parametrize("content", [b"", b'{"model": "cou', b"\xff\xfe", b"{}"])
def test_a_damaged_file_is_as_if_it_were_not_there(
    tmp_path: Path, model: Counting, requests: list[ModelRequest], content: bytes
) -> None:
    first = cached(model, tmp_path)[0].generate(requests[:1])
    [path] = tmp_path.rglob("*.json")
    path.write_bytes(content)
    assert cached(model, tmp_path)[0].generate(requests[:1]) == first
    assert model.batches == [1, 1]
    cached(model, tmp_path)[0].generate(requests[:1])
    assert model.batches == [1, 1]
