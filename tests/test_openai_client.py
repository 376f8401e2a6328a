"""The openai engine against a server that misbehaves: nothing is lost, nothing hangs, no key gets out."""

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from prompts.engines.models import OpenAIRow
from prompts.engines.openai_client import MissingKeyError, OpenAIModel, folded
from prompts.language_model import ModelRequest
from prompts.plan_responses import PlanResponse
from tests.engine_contract import answers_of_the_stand_in, questions
from tests.model_server import MODEL, ModelServer, serving
from warehouse.domains import Domain

SECRET = "sk-quite-secret-0001"


@pytest.fixture(scope="module")
def requests(minecraft: Domain) -> list[ModelRequest]:
    return questions(minecraft)


@pytest.fixture
def server(minecraft: Domain, requests: list[ModelRequest]) -> Iterator[ModelServer]:
    with serving(answers_of_the_stand_in(minecraft, requests)) as started:
        yield started


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's pauses before its retries would be most of these tests' time."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.001)


def row(server: ModelServer, **changes: Any) -> OpenAIRow:
    values: dict[str, Any] = {"retries": 1, "timeout_s": 5.0, **changes}
    return OpenAIRow(name="own", engine="openai", model=MODEL, base_url=server.url, **values)


MENDED = (
    "500",
    "429",
    "close",
    "half a body, cut off",
    "half a body",
    "no answer in it",
    "not even an object",
)
LOST = {
    "500": ("engine", "status 500: the server is tired"),
    "429": ("engine", "status 429: too many"),
    "close": ("engine", "APIConnectionError"),
    "half a body, cut off": ("engine", "APIConnectionError"),
    "half a body": ("engine", "JSONDecodeError"),
    "no answer in it": ("engine", "IndexError"),
    "not even an object": ("engine", "TypeError"),
    "half an answer": ("invalid_json", ""),
    "cut off": ("length", "cut off after"),
    "refuse": ("refusal", "I would rather not."),
}


@pytest.mark.parametrize("way", MENDED)
def test_a_failure_that_passes_is_mended_by_the_retry(
    server: ModelServer, requests: list[ModelRequest], way: str
) -> None:
    server.misbehave(requests[0].user, way, "well")
    answers = OpenAIModel(row(server)).generate(requests)
    assert [answer.error for answer in answers] == [None, None, None]
    assert len(server.bodies) == len(requests) + 1


@pytest.mark.parametrize(("way", "expected"), LOST.items(), ids=LOST)
def test_a_failure_that_stays_costs_its_own_request_and_no_other(
    server: ModelServer, requests: list[ModelRequest], way: str, expected: tuple[str, str]
) -> None:
    server.misbehave(requests[1].user, way)
    first, failed, last = OpenAIModel(row(server)).generate(requests)
    assert (first.error, last.error) == (None, None)
    assert failed.error is not None
    assert (failed.error.reason, expected[1] in failed.error.detail) == (expected[0], True)
    assert failed.request_id == requests[1].request_id


def test_what_came_back_is_kept_with_the_failure(server: ModelServer, requests: list[ModelRequest]) -> None:
    server.misbehave(requests[0].user, "half a body")
    server.misbehave(requests[1].user, "cut off")
    server.misbehave(requests[2].user, "500")
    half, cut, broken = OpenAIModel(row(server)).generate(requests)
    assert half.raw.startswith('{"id": "c"')
    assert cut.raw == server.answers[requests[1].user][: len(cut.raw)] != ""
    assert "the server is tired" in broken.raw


@pytest.mark.parametrize("way", ["hang", "trickle"])
def test_a_server_that_never_ends_is_not_waited_for(
    server: ModelServer, requests: list[ModelRequest], way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prompts.engines.openai_client._PAUSES_S", 0.1)
    server.misbehave(requests[0].user, way)
    slow, *others = OpenAIModel(row(server, timeout_s=2.0, retries=0)).generate(requests)
    assert slow.error is not None
    assert (slow.error.reason, slow.error.detail) == ("timeout", "no answer in 1 tries of 2 s")
    assert [answer.error for answer in others] == [None, None]


def test_no_more_requests_are_under_way_than_the_row_allows(
    server: ModelServer, requests: list[ModelRequest]
) -> None:
    server.pause_s = 0.05
    OpenAIModel(row(server, concurrency=2)).generate(requests * 3)
    assert server.most_at_once == 2
    assert len(server.bodies) == 9


def test_a_request_says_all_that_the_row_and_the_request_say(
    server: ModelServer, requests: list[ModelRequest]
) -> None:
    OpenAIModel(row(server, temperature=0.5, top_p=0.9, seed=3, max_tokens=50)).generate(requests[:1])
    [body] = server.bodies
    assert (body["model"], body["temperature"], body["top_p"], body["seed"]) == (MODEL, 0.5, 0.9, 3)
    assert body["max_tokens"] == 50
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"] == requests[0].json_schema
    system, user = body["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert user["content"] == requests[0].user
    assert system["content"].startswith(requests[0].system)
    assert system["content"].endswith("}")


def test_a_row_can_leave_out_what_an_endpoint_refuses(
    server: ModelServer, requests: list[ModelRequest]
) -> None:
    spare = row(
        server,
        structured="none",
        send_sampling=False,
        show_schema=False,
        limit_field="max_completion_tokens",
        extra_body={"enable_thinking": False},
    )
    OpenAIModel(spare).generate(requests[:1])
    [body] = server.bodies
    assert not {"temperature", "top_p", "seed", "response_format", "max_tokens"} & set(body)
    assert body["max_completion_tokens"] == requests[0].max_tokens
    assert body["enable_thinking"] is False
    assert body["messages"][0]["content"] == requests[0].system


def test_tokens_are_the_servers_and_unknown_where_it_gives_none(
    server: ModelServer, requests: list[ModelRequest]
) -> None:
    server.misbehave(requests[1].user, "no usage")
    priced = OpenAIModel(row(server, price_in=2.0, price_out=10.0))
    counted, uncounted = priced.generate(requests[:2])
    assert (counted.tokens_in, counted.tokens_out, counted.spent.tokens_reused) == (40, 7, 30)
    assert counted.spent.cost == pytest.approx((40 * 2 + 7 * 10) / 1e6)
    assert counted.spent.seconds is not None
    assert (uncounted.tokens_in, uncounted.tokens_out, uncounted.spent.cost) == (None, None, None)


def test_the_key_comes_from_its_variable_and_stays_out_of_everything(
    server: ModelServer,
    requests: list[ModelRequest],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("OWN_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    server.misbehave(requests[1].user, "401")
    model = OpenAIModel(row(server, api_key_env="OWN_KEY"))
    answers = model.generate(requests)
    assert set(server.keys) == {f"Bearer {SECRET}"}
    assert answers[1].error is not None
    assert "Incorrect API key provided: …" in answers[1].error.detail
    assert SECRET not in repr(answers) + model.name + caplog.text + repr(vars(model))


def test_without_its_key_nothing_is_asked(
    server: ModelServer, requests: list[ModelRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OWN_KEY", raising=False)
    with pytest.raises(MissingKeyError, match="set OWN_KEY"):
        OpenAIModel(row(server, api_key_env="OWN_KEY")).generate(requests)
    assert server.bodies == []


def test_it_can_be_asked_where_an_event_loop_runs(server: ModelServer, requests: list[ModelRequest]) -> None:
    async def ask() -> int:
        return len(OpenAIModel(row(server)).generate(requests))

    assert asyncio.run(ask()) == 3


def test_an_endpoint_that_wants_an_object_at_the_root_gets_one(
    server: ModelServer, requests: list[ModelRequest]
) -> None:
    answers = OpenAIModel(row(server, object_root=True)).generate(requests)
    assert [answer.error for answer in answers] == [None, None, None]
    for body in server.bodies:
        schema = body["response_format"]["json_schema"]["schema"]
        assert schema["type"] == "object"
        assert "anyOf" not in schema
        assert schema["required"] == list(schema["properties"])
        validator = Draft202012Validator(schema)
        [answer] = [each for each in answers if each.request_id in asked_as(body, requests)]
        assert validator.is_valid(json.loads(answer.raw))
        field = schema["required"][-1]
        assert validator.is_valid({"decision": "abstain", "why": "Nothing is shown.", field: None})
        assert not validator.is_valid({"decision": "perhaps", "why": "Nothing is shown.", field: None})


def asked_as(body: dict[str, Any], requests: list[ModelRequest]) -> set[str]:
    said = body["messages"][-1]["content"]
    return {request.request_id for request in requests if request.user == said}


def test_a_schema_without_variants_is_not_folded() -> None:
    schema = PlanResponse.model_json_schema()
    assert folded(schema) == schema
