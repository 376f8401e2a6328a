"""The stand-in, the openai engine and the vllm engine, all held to the same contract, with a fake server and
a fake vllm behind the latter two."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from prompts.engines.models import OpenAIRow, RulesRow, VllmRow
from prompts.engines.registry import opened
from prompts.language_model import LanguageModel, ModelRequest
from tests.engine_contract import CHECKS, UNANSWERABLE, answers_of_the_stand_in, contract_questions
from tests.model_server import MODEL, serving
from warehouse.domains import Domain

FAKE_VLLM = Path(__file__).parent / "fake_vllm"


@pytest.fixture(scope="module")
def requests(minecraft: Domain) -> list[ModelRequest]:
    return contract_questions(minecraft)


def rules(domain: Domain, folder: Path) -> Iterator[LanguageModel]:
    with opened(RulesRow(name="rules", engine="rules"), domain) as models:
        yield models(0)


def openai(domain: Domain, folder: Path) -> Iterator[LanguageModel]:
    with serving(answers_of_the_stand_in(domain, contract_questions(domain))) as server:
        server.misbehave(UNANSWERABLE, "500")
        row = OpenAIRow(name="own", engine="openai", model=MODEL, base_url=server.url, retries=0)
        with opened(row, domain) as models:
            yield models(0)


def vllm(domain: Domain, folder: Path) -> Iterator[LanguageModel]:
    (folder / "answers.json").write_text(
        json.dumps(answers_of_the_stand_in(domain, contract_questions(domain)))
    )
    with opened(VllmRow(name="own", engine="vllm", model=str(folder)), domain) as models:
        yield models(0)


@pytest.fixture(scope="module", params=[rules, openai, vllm], ids=lambda engine: engine.__name__)
def model(
    request: pytest.FixtureRequest, minecraft: Domain, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LanguageModel]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(FAKE_VLLM))
        yield from request.param(minecraft, tmp_path_factory.mktemp("model"))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_an_engine_keeps_its_contract(
    check: Callable[[LanguageModel, Sequence[ModelRequest]], None],
    model: LanguageModel,
    requests: list[ModelRequest],
) -> None:
    check(model, requests)


def test_all_engines_answer_what_their_model_says(
    model: LanguageModel, requests: list[ModelRequest], minecraft: Domain
) -> None:
    said = answers_of_the_stand_in(minecraft, requests)
    assert [answer.raw for answer in model.generate(requests)] == list(said.values())
