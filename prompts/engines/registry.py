"""From a row of the models' file to a model that answers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar

from prompts.engines.models import OpenAIRow, RulesRow, VllmRow
from prompts.engines.openai_client import OpenAIModel
from prompts.engines.rules import RulesStandIn
from prompts.engines.vllm_process import VllmModel, VllmProcess
from prompts.language_model import LanguageModel
from prompts.tokens import HuggingFaceCounter, PieceCounter, TokenCounter
from warehouse.domains import Domain

Chosen = TypeVar("Chosen", VllmRow, OpenAIRow)
BySeed = Callable[[int], LanguageModel]
"""seed -> the model that draws by it; one object for seeds that make no difference"""


@contextmanager
def opened(row: RulesRow | VllmRow | OpenAIRow, domain: Domain) -> Iterator[BySeed]:
    """The model of a row, by seed, for as long as the context lasts. Nothing is started, connected or
    imported before the first question; what was started ends with the context."""
    match row:
        case RulesRow():
            yield cache(lambda seed: RulesStandIn(domain, seed=seed))
        case OpenAIRow():
            yield _by_seed(row, OpenAIModel)
        case VllmRow():
            with VllmProcess(row) as process:
                yield _by_seed(row, lambda one: VllmModel(one, process))


def counter_of(row: RulesRow | VllmRow | OpenAIRow) -> TokenCounter:
    """Counts as the row's model does, by the tokenizer that the row names or its folder has; an estimate
    where there is none. `FileNotFoundError` where the one that the row names is missing."""
    if isinstance(row, VllmRow | OpenAIRow) and row.tokenizer is not None:
        return HuggingFaceCounter(Path(row.tokenizer))
    beside = Path(row.model) / "tokenizer.json" if isinstance(row, VllmRow) else None
    return HuggingFaceCounter(beside) if beside is not None and beside.is_file() else PieceCounter()


def _by_seed(row: Chosen, make: Callable[[Chosen], LanguageModel]) -> BySeed:
    models = cache(lambda seed: make(row.model_copy(update={"seed": seed})))
    return lambda seed: models(row.seed + seed if row.temperature else row.seed)
