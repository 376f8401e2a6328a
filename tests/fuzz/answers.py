"""What a model answers, in every role: it has the asked shape or an error with a name, and what comes of it
can be curated, stored and shown."""

import json
from functools import cache
from pathlib import Path

from prompts.language_model import AnswerError, ModelRequest, answer_row
from prompts.plan_responses import PlanResponse, RepairResponse, plan_faults, repair_faults
from prompts.rendering import render_entry
from prompts.responses import candidate_from, read_answer
from prompts.review import ReviewResponse
from tests.fuzz.recordings import domain
from tests.test_answers import answer_text
from tests.test_inducer import failure, only_request, state
from warehouse.acceptance import reasons_against
from warehouse.knowledge import Candidate
from warehouse.log import candidate_rows
from warehouse.proposed import as_entry

_LABEL = "0" * 8


@cache
def asked() -> ModelRequest:
    """A question to Inducer."""
    fact = failure(
        "craft",
        "stone_axe",
        "MISSING_STATION",
        missing={"crafting_table": 0},
        before=state({"crafting_table": 1}),
    )
    return only_request(domain(), fact)


def read(data: bytes, folder: Path) -> None:
    """The bytes as the answer in each role."""
    text = data.decode("utf-8", "surrogateescape")
    answer = read_answer(asked(), "fuzzed", text)
    assert (answer.value is None) == (answer.error is not None)
    assert answer_row(asked(), answer, "b1")["raw"].encode() is not None
    candidate = candidate_from(asked(), answer, "b1")
    assert isinstance(candidate, Candidate | AnswerError)
    if isinstance(candidate, Candidate):
        reasons_against(candidate, {}, domain())
        assert candidate_rows([candidate]).height == 1
        shown = render_entry(as_entry(candidate, ()))
        assert all(char.isprintable() or char == "\n" for char in shown)
    for response in (PlanResponse, RepairResponse, ReviewResponse):
        request = ModelRequest("planner", "fuzz_v1", asked().messages, asked().situation, response)
        said = read_answer(request, "fuzzed", text)
        assert (said.value is None) == (said.error is not None)
        if isinstance(said.value, PlanResponse):
            plan_faults(said.value, (_LABEL,), ("scripted",), domain())
        if isinstance(said.value, RepairResponse):
            repair_faults(said.value, ("s1",), (_LABEL,), ("scripted",), domain())


def seeds() -> list[bytes]:
    """A good answer of each role, and what comes close to one."""
    step = {
        "subgoal_id": "s1",
        "condition": "none",
        "task_kind": "craft",
        "target": "stick",
        "count": 4,
        "executor_hint": "scripted",
        "mode": "stay",
        "timeout_s": 30.0,
        "checks": [{"type": "inv_ge", "name": "stick", "value": 4.0}],
        "rationale": "it is needed",
        "knowledge": [_LABEL],
    }
    plan = {"plan_id": "p1", "subgoals": [step], "global_constraints": ["stay alive"]}
    repaired = {**step, "subgoal_id": "s2", "repair_source": _LABEL}
    repair = {
        "plan_id": "p1",
        "kept_prefix": ["s1"],
        "repaired_suffix": [repaired],
        "active_remedies_used": [_LABEL],
    }
    review = {"reason": "too narrow", "verdict": "reject"}
    texts = [answer_text(), f"```json\n{answer_text()}\n```", answer_text(support=["f9"])]
    texts += [json.dumps(each) for each in (plan, repair, review)]
    texts += [answer_text(trigger=[{"field": "health", "op": "lt", "value": 1e308}]), '{"a":' * 500]
    return [text.encode() for text in texts]
