"""The stand-in as reviewer: two faults that a request shows by itself, and no others.

It refuses a remedy whose repair begins with the action that failed, and what adds nothing to an entry of the
summary: the same steps for the same action (and failure) under the same conditions. Two entries that Curator
makes one of are none of its business, since the evidence of both is added up there; and a condition more, or
fewer, may be what was learnt. It looks at structure alone, knows nothing of the world and keeps everything
else: what it says is nothing that a model would say.
"""

from typing import Any

from prompts.plan_responses import LABEL_LENGTH
from prompts.review import ReviewSituation
from warehouse.entries import Entry
from warehouse.grammar import action_of, conditions_of, steps_of
from warehouse.knowledge import RemedyContent
from warehouse.merging import same_but_trigger


def verdict_on(situation: ReviewSituation) -> dict[str, Any]:
    """The answer to a review request."""
    reason = _begins_with_the_failure(situation.proposed) or _adds_nothing(situation)
    if reason is None:
        return {"reason": "nothing in the request speaks against it", "verdict": "keep"}
    return {"reason": reason, "verdict": "reject"}


def _begins_with_the_failure(proposed: Entry) -> str | None:
    if not isinstance(proposed.content, RemedyContent):
        return None
    kind, target = action_of(proposed.content)
    first = proposed.content.repair[0]
    if kind is None or (first.kind, first.target) != (kind, target):
        return None
    action = f"{kind} {target}" if target is not None else kind
    return f"the repair begins with what failed, {action}, before anything has changed"


def _adds_nothing(situation: ReviewSituation) -> str | None:
    proposed = situation.proposed
    for known in situation.known:
        same = _what_it_tells(known) == _what_it_tells(proposed)
        alike = set(conditions_of(known)) == set(conditions_of(proposed))
        if same and alike and same_but_trigger(known) != same_but_trigger(proposed):
            return (
                f"{known.type} {known.entry_id[:LABEL_LENGTH]} tells the same steps under the same conditions"
            )
    return None


def _what_it_tells(entry: Entry) -> tuple[object, ...]:
    """The action, the failure where there is one, and the steps without their checks."""
    content = entry.content
    steps = tuple((step.kind, step.target, step.count) for step in steps_of(content))
    failure = (content.risk.failure_type, content.risk.missing) if isinstance(content, RemedyContent) else ()
    return (entry.type, action_of(content), failure, steps)
