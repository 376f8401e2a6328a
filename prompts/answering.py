"""A model as the pipeline asks it: with the answers it gave before, and a note of what each answer took."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from prompts.answer_cache import AnswerCache, CachedModel
from prompts.engines.models import OpenAIRow, RulesRow, VllmRow
from prompts.engines.registry import BySeed, opened
from prompts.language_model import ModelAnswer, ModelRequest
from warehouse import telemetry
from warehouse.domains import Domain

ANSWERS: Final = Path("cache") / "answers"
"""below the data home"""


@contextmanager
def answering(
    row: RulesRow | VllmRow | OpenAIRow, domain: Domain, home: Path, build: str
) -> Iterator[BySeed]:
    """The model of a row, by seed, while the context lasts. What its answers took is written at the end,
    however it ends. The stand-in is asked directly: it takes nothing and has nothing to remember."""
    with opened(row, domain) as models:
        if isinstance(row, RulesRow):
            yield models
            return
        known = AnswerCache(home / ANSWERS)
        took: list[dict[str, Any]] = []

        def note(request: ModelRequest, answer: ModelAnswer) -> None:
            took.append(_telemetry_row(request, answer, build))

        # By the model and not by the seed: seeds that make no difference are one model, asked in one batch.
        remembering: dict[str, CachedModel] = {}

        def by_seed(seed: int) -> CachedModel:
            model = models(seed)
            return remembering.setdefault(model.name, CachedModel(model, known, note))

        try:
            yield by_seed
        finally:
            telemetry.append(home, took)


def _telemetry_row(request: ModelRequest, answer: ModelAnswer, build: str) -> dict[str, Any]:
    spent = answer.spent
    return {
        "at": telemetry.now(),
        "build": build,
        "role": request.role,
        "template": request.template,
        "model": answer.model,
        "request_id": request.request_id,
        "cache_key": request.cache_key(answer.model),
        "error": answer.error.reason if answer.error else None,
        "cached": spent.cached,
        "seconds": spent.seconds,
        "tokens_in": answer.tokens_in,
        "tokens_reused": spent.tokens_reused,
        "tokens_out": answer.tokens_out,
        "cost": spent.cost,
    }
