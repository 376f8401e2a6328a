"""Models for the scoring of remedies: one that knows the right answers, and some that do not."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prompts.language_model import ModelAnswer, ModelRequest
from prompts.responses import read_answer
from prompts.situations import RemedySituation
from rollouts.model_score.playing import Failure

Say = Callable[[Failure, ModelRequest], str]


@dataclass
class Scripted:
    """Answers each request about a failure as `say` says."""

    failures: Sequence[Failure]
    say: Say
    name: str = "scripted"

    def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
        """One answer per request."""
        about = {failure.fact.feedback_id: failure for failure in self.failures}
        answers = []
        for request in requests:
            assert isinstance(request.situation, RemedySituation)
            failure = about[request.situation.cited[-1].feedback_id]
            answers.append(read_answer(request, self.name, self.say(failure, request)))
        return answers


def right(failure: Failure, request: ModelRequest) -> str:
    """The right answer: the cause and the repair that the situation's file gives."""
    situation = failure.situation
    trigger = {"kind": situation.goal.kind, "failure_type": failure.fact.failure_type}
    if situation.goal.target is not None:
        trigger["target"] = situation.goal.target
    note = f"{' or '.join(situation.names)} lacking: {situation.rule}" if situation.names else situation.rule
    steps = [json.loads(step.model_dump_json()) for step in situation.repair]
    return proposal(request, trigger, note[:240], steps)


def again(failure: Failure, request: ModelRequest) -> str:
    """The failed action once more, for no reason in particular."""
    goal = failure.situation.goal
    step = {"kind": goal.kind, "target": goal.target, "count": goal.count, "checks": []}
    return proposal(request, {"kind": goal.kind, "stagnant": True}, "It did not work.", [step])


def abstains(_failure: Failure, _request: ModelRequest) -> str:
    """A well-formed answer without a remedy."""
    return json.dumps({"decision": "abstain", "why": "Nothing shows what would help.", "remedy": None})


def proposal(
    request: ModelRequest, trigger: Mapping[str, Any], note: str, steps: Sequence[Mapping[str, Any]]
) -> str:
    """A remedy that cites all that was shown."""
    assert isinstance(request.situation, RemedySituation)
    return json.dumps(
        {
            "decision": "propose",
            "why": "The records show it.",
            "remedy": {
                "trigger": [{"field": field, "op": "eq", "value": value} for field, value in trigger.items()],
                "risk_pattern": note,
                "repair": list(steps),
                "verification": [],
                "applicability": [],
                "scope": "subgoal_local",
                "category": "recovery_strategy",
                "support": [row.label for row in request.situation.cited],
            },
        }
    )
