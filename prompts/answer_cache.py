"""Answers that were given before: the same question to the same model is asked once.

One small file per answer, named by its cache key (`ModelRequest.cache_key`): model with its sampling,
template version, prompt, situation and schema. Written as soon as its batch is answered, so that a run which
was killed goes on where it was. It can be removed at any time; what was learnt is in the log and not here.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from prompts.language_model import NOT_THE_MODELS, LanguageModel, ModelAnswer, ModelRequest, Spent
from prompts.responses import read_answer
from warehouse.shards import write_bytes

BATCH: Final = 256
"""requests that are asked together; what has been answered is stored before the next are asked"""


class Remembered(BaseModel):
    """What is kept of an answer. It is read again as it was read the first time."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    model: str
    request_id: str
    raw: str
    finish_reason: Literal["stop", "length", "refusal"]
    tokens_in: int | None
    tokens_out: int | None


class AnswerCache:
    """The answers below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, request: ModelRequest, model: str) -> ModelAnswer | None:
        """The answer that `model` gave to this request; None where there is none, or an unreadable one."""
        try:
            kept = Remembered.model_validate_json(self._path(request, model).read_bytes())
        except (FileNotFoundError, ValidationError):
            return None
        if (kept.model, kept.request_id) != (model, request.request_id):
            return None
        return read_answer(
            request,
            model,
            kept.raw,
            finish_reason=kept.finish_reason,
            tokens_in=kept.tokens_in,
            tokens_out=kept.tokens_out,
            spent=Spent(cached=True),
        )

    def keep(self, request: ModelRequest, answer: ModelAnswer) -> None:
        """Remembers an answer. One that says nothing of the model (a lost connection) is not remembered."""
        reason = answer.error.reason if answer.error else None
        if reason in NOT_THE_MODELS:
            return
        kept = Remembered(
            model=answer.model,
            request_id=answer.request_id,
            raw=answer.raw,
            finish_reason=reason if reason == "length" or reason == "refusal" else "stop",
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
        )
        write_bytes(self._path(request, answer.model), kept.model_dump_json().encode())

    def _path(self, request: ModelRequest, model: str) -> Path:
        key = request.cache_key(model)
        return self._folder / key[:2] / f"{key}.json"


class CachedModel:
    """A `LanguageModel` that asks another only what is not known yet, and tells `note` of every answer."""

    def __init__(
        self,
        model: LanguageModel,
        known: AnswerCache,
        note: Callable[[ModelRequest, ModelAnswer], None],
        batch: int = BATCH,
    ) -> None:
        self._model = model
        self._known = known
        self._note = note
        self._batch = batch

    @property
    def name(self) -> str:
        """The model's own name: a remembered answer is its answer."""
        return self._model.name

    def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
        """One answer per request, in order. A request that stands there twice is asked once."""
        answers: dict[str, ModelAnswer] = {}
        unknown: dict[str, ModelRequest] = {}
        for request in requests:
            if request.request_id in answers or request.request_id in unknown:
                continue
            found = self._known.find(request, self.name)
            if found is None:
                unknown[request.request_id] = request
            else:
                answers[request.request_id] = found
                self._note(request, found)
        asked = list(unknown.values())
        for start in range(0, len(asked), self._batch):
            part = asked[start : start + self._batch]
            for request, answer in zip(part, self._model.generate(part), strict=True):
                self._known.keep(request, answer)
                self._note(request, answer)
                answers[request.request_id] = answer
        return [answers[request.request_id] for request in requests]
