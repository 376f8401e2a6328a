"""What this process and the one with the model in it say to each other: one JSON document per line.

    parent: Load           child: Loaded | Failed
    parent: Chat           child: Answered | Failed      (as often as there are batches)
    parent: end of file    child ends

Nothing but the standard library and pydantic is imported here, so that the child can run in an environment
that has vllm and none of this project's other dependencies.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class Line(BaseModel):
    """Base of all messages."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class Turn(Line):
    """One turn of a prompt, in the words of chat templates."""

    role: Literal["system", "user"]
    content: str


class Question(Line):
    """One request, as the engine needs it."""

    turns: tuple[Turn, ...]
    json_schema: dict[str, Any]
    max_tokens: int
    temperature: float
    top_p: float
    seed: int


class Reply(Line):
    """One answer: the text with its finish reason, or why the engine refused the request."""

    text: str = ""
    finish_reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_reused: int | None = None
    seconds: float | None = None
    refused: str | None = None


class Load(Line):
    """Start the engine with these keyword arguments of `vllm.LLM`."""

    kind: Literal["load"] = "load"
    arguments: dict[str, Any]


class Chat(Line):
    """Answer these together."""

    kind: Literal["chat"] = "chat"
    questions: tuple[Question, ...]


class Loaded(Line):
    """The engine stands."""

    kind: Literal["loaded"] = "loaded"
    version: str


class Answered(Line):
    """One reply per question, in their order."""

    kind: Literal["answered"] = "answered"
    replies: tuple[Reply, ...]


class Failed(Line):
    """The engine is gone, and the child ends."""

    kind: Literal["failed"] = "failed"
    why: str
    missing: bool = False
    """whether vllm cannot be imported at all"""


ToChild = Annotated[Load | Chat, Field(discriminator="kind")]
ToParent = Annotated[Loaded | Answered | Failed, Field(discriminator="kind")]
TO_CHILD: Final[TypeAdapter[Load | Chat]] = TypeAdapter(ToChild)
TO_PARENT: Final[TypeAdapter[Loaded | Answered | Failed]] = TypeAdapter(ToParent)


def written(message: Line) -> bytes:
    """A message as one line."""
    return message.model_dump_json().encode() + b"\n"
