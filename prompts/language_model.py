"""What a language model is to this project: a batch of requests in, as many answers out, in the same order.

A request is a rendered prompt with a JSON schema, and beside it the `situation` that the prompt was rendered
from. Engines that read text use the prompt; the built-in `rules` engine uses the situation. An answer holds
either a value or an error with its reason: an engine never raises over what a model said.

Nothing here carries a clock, a latency or a random id: `answer_row` is what the immutable log keeps, and the
same request to the same model gives the same row. Times and costs go to telemetry.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Final, Literal, Protocol

import orjson
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from warehouse.ids import canonical_bytes, derive_id, digest, spelled

Role = Literal["planner", "inducer_skill", "inducer_remedy", "curator", "adaptor"]
Speaker = Literal["system", "user"]
ErrorReason = Literal[
    "length",  # the answer was cut off at max_tokens
    "empty",  # nothing came back
    "invalid_json",  # not one JSON document
    "schema",  # JSON, but not what was asked for
    "citation",  # cites evidence that the request did not show
    "refusal",  # the model or its provider declined
    "abstained",  # the model says that the evidence does not carry an answer; its reason is the detail
    "engine",  # the engine itself failed on this request: too long a prompt, a lost connection
    "timeout",  # no answer within the time that the settings allow
]
NOT_THE_MODELS: Final[frozenset[ErrorReason]] = frozenset({"engine", "timeout"})
"""Errors that say nothing of the model: they are never remembered as its answer."""

ANSWER_LOG: Final = pl.Schema(
    {
        "answer_id": pl.String(),
        "build": pl.String(),
        "request_id": pl.String(),
        "cache_key": pl.String(),
        "role": pl.String(),
        "template": pl.String(),
        "model": pl.String(),
        "system": pl.String(),
        "user": pl.String(),
        "situation": pl.String(),
        "raw": pl.String(),
        "value": pl.String(),
        "error": pl.String(),
        "error_detail": pl.String(),
        "tokens_in": pl.Int32(),
        "tokens_out": pl.Int32(),
    }
)
"""Columns of the answer log. `situation` and `value` are canonical JSON (their shape differs by role);
`value` is null for an error, `error` for a value."""


class Sampling(BaseModel):
    """How a model draws its tokens. The default is greedy, which is as repeatable as an engine can be."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    temperature: float = Field(default=0.0, ge=0, le=2)
    top_p: float = Field(default=1.0, gt=0, le=1)
    seed: int = Field(default=0, ge=0)


@dataclass(frozen=True)
class Message:
    """One turn of the prompt."""

    speaker: Speaker
    text: str


@dataclass(frozen=True)
class ModelRequest:
    """One question. `situation` is a closed record; `response` is the model its answer is read into."""

    role: Role
    template: str
    """name and version of the templates, such as `inducer_skill_v1`"""
    messages: tuple[Message, ...]
    situation: BaseModel
    response: type[BaseModel]
    max_tokens: int = 1024

    @property
    def system(self) -> str:
        """What the system turns say."""
        return "\n".join(message.text for message in self.messages if message.speaker == "system")

    @property
    def user(self) -> str:
        """What the user turns say."""
        return "\n".join(message.text for message in self.messages if message.speaker == "user")

    @property
    def json_schema(self) -> dict[str, Any]:
        """The JSON schema of the answer, for guided decoding; shared, so not to be changed."""
        return _schema_of(self.response)

    @cached_property
    def content(self) -> list[Any]:
        """Everything that is asked, and nothing of who is asked; spelled out, since several ids hold it."""
        return [
            self.role,
            self.template,
            spelled([[message.speaker, message.text] for message in self.messages]),
            spelled(self.situation),
            _spelled_schema_of(self.response),
            self.max_tokens,
        ]

    @cached_property
    def request_id(self) -> str:
        """The same for every model, so that two models' answers to one question can be compared."""
        return derive_id("request", self.content)

    def cache_key(self, model: str) -> str:
        """Names `model`'s answer to this request: model, template version, prompt with the situation it was
        rendered from, and schema. How it draws its tokens is part of the model's name.

        The situation is part of it because the rules engine reads that and not the text.
        """
        return digest([model, *self.content])


class AnswerError(BaseModel):
    """Why there is no value."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    reason: ErrorReason
    detail: str = Field(default="", max_length=400)


@dataclass(frozen=True)
class Spent:
    """What an answer took: telemetry, outside every hash and comparison. Null where nobody says."""

    seconds: float | None = None
    """from the asking to the answer; in a batch that is answered at once, the batch's"""
    tokens_reused: int | None = None
    """of the prompt's tokens, those that the engine had computed before"""
    cost: float | None = None
    """by the prices in the model's settings"""
    cached: bool = False
    """whether the answer came from the answer cache and no model was asked"""


@dataclass(frozen=True)
class ModelAnswer:
    """What came back for one request: exactly one of `value` and `error`. Token counts are the engine's own,
    null where it gave none."""

    request_id: str
    model: str
    raw: str
    value: BaseModel | None = None
    error: AnswerError | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    spent: Spent = field(default_factory=Spent, compare=False)

    def __post_init__(self) -> None:
        if (self.value is None) == (self.error is None):
            raise ValueError("an answer has either a value or an error")


class LanguageModel(Protocol):
    """An engine with a model in it."""

    @property
    def name(self) -> str:
        """Engine, model, sampling and whatever else changes its answers; part of the cache key."""
        ...

    def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
        """One answer per request, in the order of the requests."""
        ...


@cache
def _schema_of(response: type[BaseModel]) -> dict[str, Any]:
    # Building a schema takes about as long as everything else about a request together.
    return response.model_json_schema()


@cache
def _spelled_schema_of(response: type[BaseModel]) -> orjson.Fragment:
    return spelled(_schema_of(response))


def answer_row(request: ModelRequest, answer: ModelAnswer, build: str) -> dict[str, Any]:
    """The row of `ANSWER_LOG` for an answer; `answer_id` is derived from what was asked and what came back.

    `ValueError` when the answer belongs to another request.
    """
    if answer.request_id != request.request_id:
        raise ValueError(f"answer to {answer.request_id} paired with request {request.request_id}")
    key = request.cache_key(answer.model)
    value = answer.value
    return {
        "answer_id": derive_id("answer", [key, answer.raw, answer.error, build]),
        "build": build,
        "request_id": answer.request_id,
        "cache_key": key,
        "role": request.role,
        "template": request.template,
        "model": answer.model,
        "system": request.system,
        "user": request.user,
        "situation": canonical_bytes(request.situation).decode(),
        "raw": answer.raw,
        "value": None if value is None else canonical_bytes(value).decode(),
        "error": answer.error.reason if answer.error else None,
        "error_detail": answer.error.detail if answer.error else None,
        "tokens_in": answer.tokens_in,
        "tokens_out": answer.tokens_out,
    }
