"""One more try for an answer that could not be used, told what was wrong with it.

For Inducer, whose requests stand alone. Planner and Adaptor ask again by themselves, since each of their
calls counts against their episode's budget.
"""

from dataclasses import replace
from typing import Final

from prompts.language_model import AnswerError, ErrorReason, Message, ModelRequest
from prompts.rendering import render

AGAIN_TEMPLATE: Final = "again_v1"
MENDABLE: Final[frozenset[ErrorReason]] = frozenset({"length", "empty", "invalid_json", "schema", "citation"})
"""Errors that a model can mend when it is told of them. It cannot mend a lost connection, and an abstention
or a refusal is an answer."""


def second_try(request: ModelRequest, error: AnswerError) -> ModelRequest | None:
    """The request once more, with the error at the end of its last turn; None where that would not help.

    Everything before stays as it was, so that an engine's prefix cache holds it.
    """
    if error.reason not in MENDABLE or request.template.endswith(f"+{AGAIN_TEMPLATE}"):
        return None
    fault = f"{error.reason}: {error.detail}" if error.detail else error.reason
    said = render(AGAIN_TEMPLATE, fault=fault, is_cut_off=error.reason == "length")
    *before, last = request.messages
    return replace(
        request,
        template=f"{request.template}+{AGAIN_TEMPLATE}",
        messages=(*before, Message(last.speaker, f"{last.text}\n\n{said}")),
    )
