"""What a model's text is read as: every failure has a name, and what passes can only have the asked shape."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from prompts.language_model import AnswerError, ModelRequest
from prompts.responses import RemedyResponse, SkillResponse, candidate_from, read_answer
from tests.test_inducer import failure, only_request, state
from warehouse.domains import Domain, load_domain
from warehouse.knowledge import Candidate, RemedyContent


def remedy(**changes: Any) -> dict[str, Any]:
    return {
        "trigger": [
            {"field": "failure_type", "op": "eq", "value": "MISSING_STATION"},
            {"field": "inventory.crafting_table", "op": "ge", "value": 1.0},
        ],
        "risk_pattern": "The table was carried and not placed.",
        "repair": [{"kind": "use", "target": "crafting_table", "count": 1, "checks": []}],
        "verification": [],
        "applicability": [],
        "scope": "unfinished_plan_suffix",
        "category": "missing_prerequisite",
        "support": ["f1"],
        **changes,
    }


def answer_text(**changes: Any) -> str:
    return json.dumps({"decision": "propose", "why": "It was not placed.", "remedy": remedy(**changes)})


@pytest.fixture(scope="module")
def asked() -> ModelRequest:
    fact = failure(
        "craft",
        "stone_axe",
        "MISSING_STATION",
        missing={"crafting_table": 0},
        before=state({"crafting_table": 1}),
    )
    return only_request(load_domain("minecraft"), fact)


def outcome(asked: ModelRequest, text: str, finish_reason: str = "stop") -> Candidate | AnswerError:
    return candidate_from(asked, read_answer(asked, "m", text, finish_reason=finish_reason), "b1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("I'm sorry, but I cannot do that.", "invalid_json"),
        ('{"decision": "propose", "why": "x", "remedy": {', "invalid_json"),
        (answer_text() + answer_text(), "invalid_json"),
        ("[" * 100_000, "invalid_json"),
        ("null", "schema"),
        ('{"decision": "propose", "why": "x"}', "schema"),
        ('{"decision": "propose", "why": "x", "remedy": null}', "schema"),
        (answer_text().replace("propose", "abstain"), "schema"),
        (answer_text().replace("propose", "perhaps"), "schema"),
        ('{"decision": "abstain", "why": "No cause is shown.", "remedy": null}', "abstained"),
        (answer_text(confidence=0.8), "schema"),
        (answer_text(repair=[]), "schema"),
        (answer_text(repair=[{"kind": "dance", "target": None, "count": 1, "checks": []}]), "schema"),
        (answer_text(repair=[{"kind": "use", "target": "x y", "count": 1, "checks": []}]), "schema"),
        (answer_text(repair=remedy()["repair"] * 13), "schema"),
        (answer_text(risk_pattern="a\nb"), "schema"),
        (answer_text(risk_pattern="a" * 241), "schema"),
        (answer_text(trigger=[{"field": "gui", "op": "is", "value": "none"}]), "schema"),
        (answer_text(trigger=[{"field": "y", "op": "lt", "value": float("nan")}]), "schema"),
        (answer_text(trigger=[{"field": "ypos", "op": "lt", "value": 10**30}]), "schema"),
        (answer_text(support=[]), "schema"),
        (answer_text(support=["f1", "f7"]), "citation"),
    ],
)
def test_every_failure_has_its_reason(asked: ModelRequest, text: str, reason: str) -> None:
    found = outcome(asked, text)
    assert isinstance(found, AnswerError)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("finish_reason", "reason"),
    [("length", "length"), ("max_tokens", "length"), ("content_filter", "refusal"), ("refusal", "refusal")],
)
def test_an_answer_that_did_not_end_by_itself_is_an_error_even_if_it_parses(
    asked: ModelRequest, finish_reason: str, reason: str
) -> None:
    found = outcome(asked, answer_text(), finish_reason)
    assert isinstance(found, AnswerError)
    assert found.reason == reason


def test_a_good_answer_becomes_a_candidate_of_its_situation(asked: ModelRequest) -> None:
    found = outcome(asked, answer_text())
    assert isinstance(found, Candidate)
    assert isinstance(found.content, RemedyContent)
    risk = found.content.risk
    assert (risk.kind, risk.target, risk.failure_type) == ("craft", "stone_axe", "MISSING_STATION")
    assert risk.missing == ("crafting_table",)
    assert (found.build, found.engine, found.request_id) == ("b1", "m", asked.request_id)
    assert len(found.support) == 1


def test_a_whole_number_is_one_condition_however_it_is_written(asked: ModelRequest) -> None:
    integer = answer_text().replace("1.0", "1")
    one, other = outcome(asked, answer_text()), outcome(asked, integer)
    assert isinstance(one, Candidate)
    assert isinstance(other, Candidate)
    assert one.entry_id == other.entry_id


def test_one_code_fence_around_the_answer_is_no_reason_to_lose_it(asked: ModelRequest) -> None:
    assert isinstance(outcome(asked, f"```json\n{answer_text()}\n```"), Candidate)


def test_text_that_no_encoding_has_is_kept_in_a_form_that_can_be_stored(asked: ModelRequest) -> None:
    answer = read_answer(asked, "m", "\ud800")
    assert answer.error is not None
    assert answer.raw.encode("utf-8") == b"?"


class Nothing(BaseModel):
    pass


@given(text=st.text(max_size=200), finish_reason=st.sampled_from(["stop", "length", "refusal"]))
def test_no_text_raises(text: str, finish_reason: str) -> None:
    request = ModelRequest("inducer_skill", "t", (), Nothing(), SkillResponse)
    answer = read_answer(request, "m", text, finish_reason=finish_reason)
    assert answer.error is not None


def objects(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [found for each in schema for found in objects(each)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if schema.get("type") == "object" else []
    return own + [found for each in schema.values() for found in objects(each)]


@pytest.mark.parametrize("response", [RemedyResponse, SkillResponse])
def test_every_object_of_a_schema_is_closed_and_every_field_required(
    response: type[RemedyResponse] | type[SkillResponse],
) -> None:
    found = objects(response.model_json_schema())
    assert len(found) >= 4
    for each in found:
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])


@pytest.mark.parametrize("response", [RemedyResponse, SkillResponse])
def test_every_list_and_every_string_of_a_schema_is_bounded(
    response: type[RemedyResponse] | type[SkillResponse],
) -> None:
    def walk(schema: Any) -> None:
        if isinstance(schema, list):
            for each in schema:
                walk(each)
        elif isinstance(schema, dict):
            if schema.get("type") == "array":
                assert "maxItems" in schema
            if schema.get("type") == "string":
                assert {"maxLength", "pattern", "enum", "const"} & set(schema)
            for each in schema.values():
                walk(each)

    walk(response.model_json_schema())


VARIANTS = {
    "a remedy": ({"decision": "propose", "remedy": remedy()}, True),
    "an abstention": ({"decision": "abstain", "remedy": None}, True),
    "an abstention and a remedy": ({"decision": "abstain", "remedy": remedy()}, False),
    "a proposal of nothing": ({"decision": "propose", "remedy": None}, False),
    "neither": ({"decision": "perhaps", "remedy": None}, False),
    "no decision": ({"remedy": None}, False),
    "a skill": ({"decision": "propose", "skill": remedy()}, False),
}


@pytest.mark.parametrize(("answer", "allowed"), VARIANTS.values(), ids=VARIANTS)
def test_the_schema_knows_a_remedy_and_an_abstention_and_no_third(
    answer: dict[str, Any], allowed: bool, asked: ModelRequest
) -> None:
    said = {"why": "It was not placed.", **answer}
    assert Draft202012Validator(asked.json_schema).is_valid(said) is allowed
    found = outcome(asked, json.dumps(said))
    assert (isinstance(found, AnswerError) and found.reason == "schema") is not allowed


@pytest.mark.parametrize(("response", "field"), [(RemedyResponse, "remedy"), (SkillResponse, "skill")])
def test_the_variants_of_a_schema_are_told_apart_by_a_constant(
    response: type[RemedyResponse] | type[SkillResponse], field: str
) -> None:
    schema = response.model_json_schema()
    proposed, abstained = (
        schema["$defs"][each["$ref"].rpartition("/")[2]]["properties"] for each in schema["anyOf"]
    )
    assert [each["decision"]["const"] for each in (proposed, abstained)] == ["propose", "abstain"]
    assert abstained[field]["type"] == "null"
    assert "null" not in json.dumps(proposed[field])


def test_answers_name_kinds_of_the_domain(minecraft: Domain) -> None:
    schema = json.dumps(RemedyResponse.model_json_schema())
    assert all(f'"{kind}"' in schema for kind in minecraft.kinds)
