"""The vllm engine with vllm itself and a small real model in it, offline and over HTTP: `make test-vllm`.

What is asserted is structure, repetition at temperature 0, remembered answers and complete books. The model
has 135 million parameters and is wrong more often than not; nothing here says that an answer is good. Given
room it abstains from nearly everything, and a list that it may fill it fills: see tests/brief_answers.py.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import orjson
import polars as pl
import pytest

from pipeline import launch
from pipeline.settings import Settings
from prompts.engines.models import OpenAIRow, VllmRow, model_row
from prompts.engines.registry import opened
from prompts.inducer import induce
from prompts.language_model import LanguageModel, ModelAnswer, ModelRequest
from prompts.responses import candidate_from, read_answer
from prompts.tokens import HuggingFaceCounter
from rollouts.model_score.judging import score
from rollouts.model_score.playing import failures
from rollouts.planner import Plan, Planner, Retry
from rollouts.worlds.techtree.situations import load_situations
from tests.brief_answers import LONGEST, BriefPlan, BriefProposal
from tests.conftest import ROOT
from tests.engine_contract import CHECKS, contract_questions, questions
from tests.test_inducer import failure
from tests.test_planner import moment, recall
from warehouse import log, telemetry
from warehouse.database import fetch, writer
from warehouse.domains import Domain
from warehouse.knowledge import Candidate, SkillContent

pytestmark = pytest.mark.vllm

PYTHON = ROOT / ".venv-vllm" / "bin" / "python"
MODEL = ROOT / ".venv-vllm" / "smollm2-135m-instruct"
EVENT_FILES = 12
"""of the recordings: what a CPU can answer in minutes. Nothing depends on which they are"""

THREADS = os.environ.get("VLLM_CPU_OMP_THREADS_BIND", f"0-{(os.cpu_count() or 1) - 1}")

MODELS_FILE = f"""
[small]
doc = "SmolLM2-135M-Instruct on the CPU: it proves the plumbing and never an answer's quality."
engine = "vllm"
model = "{MODEL}"
python = "{PYTHON}"
dtype = "float32"
max_model_len = 8192
max_num_seqs = 16
show_schema = false
cpu_threads = "{THREADS}"
enforce_eager = true
cpu_cache_gb = 2
start_timeout_s = 900
batch_timeout_s = 1200
"""


@pytest.fixture(scope="module")
def models_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for needed in (PYTHON, MODEL):
        if not needed.exists():
            pytest.fail(f"{needed} is not there: `make test-vllm` makes it")
    path = tmp_path_factory.mktemp("models") / "models.toml"
    path.write_text(MODELS_FILE)
    return path


@pytest.fixture(scope="module")
def row(models_file: Path) -> VllmRow:
    found = model_row("small", models_file)
    assert isinstance(found, VllmRow)
    return found


@pytest.fixture(scope="module")
def offline(row: VllmRow, minecraft: Domain) -> Iterator[LanguageModel]:
    with opened(row, minecraft) as models:
        yield models(0)


@pytest.fixture(scope="module")
def served(row: VllmRow, models_file: Path, minecraft: Domain) -> Iterator[LanguageModel]:
    """The same model behind `mineevolve serve-model`; started when the offline one has ended its tests."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"MINEEVOLVE_MODELS": str(models_file)}
    # Where tests run in the background of a shell, interruptions are ignored, and that is inherited.
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    called = f"{heeding}; from pipeline.command import app; app()"
    command = [sys.executable, "-c", called, "serve-model", "small"]
    server = subprocess.Popen([*command, "--port", str(port)], env=environment)
    try:
        wait_for(f"http://127.0.0.1:{port}/health", server)
        own = OpenAIRow(
            name="served",
            engine="openai",
            model="small",
            base_url=f"http://127.0.0.1:{port}/v1",
            show_schema=False,
            timeout_s=600.0,
        )
        with opened(own, minecraft) as models:
            yield models(0)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=60)


def wait_for(url: str, server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        assert server.poll() is None, f"the server ended with {server.returncode}"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(1)
    pytest.fail(f"{url} did not answer")


def planning_batch(model: LanguageModel, domain: Domain) -> None:
    """Two episodes ask for a plan together; each gets a whole one, and what is wrong with it is told."""
    planner = Planner(domain, recall(domain))
    asked = [planner.request(moment(name)) for name in ("stick", "furnace")]
    brief = [replace(each.request, response=BriefPlan, max_tokens=LONGEST) for each in asked]
    for each, answer in zip(asked, model.generate(brief), strict=True):
        assert isinstance(answer.value, BriefPlan)
        assert (answer.tokens_in or 0) > 500
        assert 0 < (answer.tokens_out or 0) <= LONGEST
        outcome = planner.read(each, read_answer(each.request, model.name, answer.raw))
        assert isinstance(outcome, Plan | Retry)
        assert not isinstance(outcome, Retry) or outcome.fault.startswith(answer.value.subgoals[0].subgoal_id)


def whole_proposal(model: LanguageModel, domain: Domain) -> None:
    """A remedy as it may be in the Inducer's role becomes a candidate."""
    asked = questions(domain)[0]
    [answer] = model.generate([replace(asked, response=BriefProposal, max_tokens=LONGEST)])
    assert isinstance(answer.value, BriefProposal)
    candidate = candidate_from(asked, read_answer(asked, model.name, answer.raw), "b1")
    assert isinstance(candidate, Candidate)
    assert len(candidate.support) == 1
    assert not isinstance(candidate.content, SkillContent)
    assert len(candidate.content.repair) == 1


def answers_that_end(model: LanguageModel, domain: Domain) -> None:
    """With as much room as Inducer gives, answers end by themselves, as a proposal or as an abstention."""
    answers = model.generate(questions(domain))
    ended = [each for each in answers if each.error is None or each.error.reason != "length"]
    assert ended
    for each in ended:
        said = orjson.loads(each.raw)
        proposed = said["remedy"] if "remedy" in said else said["skill"]
        assert (said["decision"], proposed is None) in (("propose", False), ("abstain", True))
        assert each.error is None or each.error.reason != "invalid_json"


SAYS: Final = (planning_batch, whole_proposal, answers_that_end)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_offline_it_keeps_the_contract_of_engines(
    check: Callable[[LanguageModel, Sequence[ModelRequest]], None], offline: LanguageModel, minecraft: Domain
) -> None:
    check(offline, contract_questions(minecraft))


@pytest.mark.parametrize("says", SAYS, ids=lambda says: says.__name__)
def test_offline_it_says_something_whole(
    says: Callable[[LanguageModel, Domain], None], offline: LanguageModel, minecraft: Domain
) -> None:
    says(offline, minecraft)


def test_a_shared_beginning_is_computed_once(offline: LanguageModel, minecraft: Domain) -> None:
    answers = offline.generate(questions(minecraft))
    assert all((answer.spent.tokens_reused or 0) > 500 for answer in answers)


def test_tokens_are_counted_as_the_model_counts_them(offline: LanguageModel, minecraft: Domain) -> None:
    request = replace(questions(minecraft)[0], max_tokens=12)
    counter = HuggingFaceCounter(MODEL / "tokenizer.json")
    [answer] = offline.generate([request])
    shown = counter.count(request.system) + counter.count(request.user)
    assert shown < (answer.tokens_in or 0) < shown + 20  # the chat template
    # Its own count, and not one of the text: guided decoding writes a word in other pieces than a tokenizer.
    assert answer.error is not None
    assert (answer.error.reason, answer.tokens_out) == ("length", 12)
    assert counter.count(answer.raw) <= 12


class Terse:
    """A model that is cut off early, whatever room it is given."""

    def __init__(self, model: LanguageModel) -> None:
        self.name = model.name
        self._model = model

    def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
        return self._model.generate([replace(request, max_tokens=12) for request in requests])


def test_what_was_cut_off_is_asked_for_once_more(offline: LanguageModel, minecraft: Domain) -> None:
    fact = failure("craft", "stone_axe", "MISSING_STATION", missing={"crafting_table": 0})
    found = induce([fact], minecraft, Terse(offline), "b1")
    assert [answer.error and answer.error.reason for answer in found.answers] == ["length", "length"]
    first, again = found.answers
    assert (again.tokens_in or 0) > (first.tokens_in or 0)
    # The question is the same up to the error that is told at its end.
    assert (again.spent.tokens_reused or 0) > 0.9 * (first.tokens_in or 0)


def test_its_remedies_are_scored(offline: LanguageModel, minecraft: Domain) -> None:
    scored = score(failures(load_situations()[:6], minecraft), offline, minecraft)
    assert scored.unanswered == 0
    assert scored.verdicts.height == 6
    assert scored.answers["model"].unique().to_list() == [offline.name]
    # What is asked of an answer presupposes a document.
    assert scored.verdicts.filter(
        ~pl.col("valid") & pl.any_horizontal("accepted", "cause", "removed")
    ).is_empty()


@pytest.fixture(scope="module")
def recordings(traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recordings") / "voyager"
    (folder / "events").mkdir(parents=True)
    for path in sorted((traces / "voyager_questllama" / "ckpt" / "events").iterdir())[:EVENT_FILES]:
        shutil.copyfile(path, folder / "events" / path.name)
    return folder


def test_real_traces_are_learnt_from_and_asked_about_once(
    recordings: Path, models_file: Path, tmp_path: Path
) -> None:
    settings = Settings(data=tmp_path, model="small", models=models_file)
    launch.import_traces(settings, "0000", [recordings])
    launch.learn_knowledge(settings, "0000")
    answers = log.read(tmp_path, "answers")
    took = telemetry.read(tmp_path)
    assert answers.height > 3
    assert answers.height == took.height
    assert not took["cached"].any()
    assert answers["model"].str.starts_with("vllm/smollm2-135m-instruct/").all()
    assert answers["raw"].str.len_chars().min() > 0
    assert set(answers["error"]) <= {None, "length", "schema", "citation", "abstained", "invalid_json"}
    for column in ("tokens_in", "tokens_out", "seconds", "tokens_reused"):
        assert took[column].null_count() == 0
    again = answers["template"].str.ends_with("+again_v1")
    first = answers.filter(~again)
    mendable = first["error"].is_in(["length", "schema", "citation", "invalid_json"])
    assert again.sum() == mendable.sum()
    candidates = log.read(tmp_path, "candidates")
    assert candidates.height == answers["error"].null_count()

    before = set((tmp_path / "log").rglob("*.parquet"))
    launch.learn_knowledge(settings, "0000")
    later = telemetry.read(tmp_path)[took.height :]
    assert later.height == answers.height
    assert later["cached"].all()
    assert set((tmp_path / "log").rglob("*.parquet")) == before
    with writer(tmp_path) as con:
        assert fetch(con, "SELECT count(*) AS n FROM model_calls")["n"].to_list() == [answers.height]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_served_it_keeps_the_contract_of_engines(
    check: Callable[[LanguageModel, Sequence[ModelRequest]], None], served: LanguageModel, minecraft: Domain
) -> None:
    check(served, contract_questions(minecraft))


@pytest.mark.parametrize("says", SAYS, ids=lambda says: says.__name__)
def test_served_it_says_something_whole(
    says: Callable[[LanguageModel, Domain], None], served: LanguageModel, minecraft: Domain
) -> None:
    says(served, minecraft)
