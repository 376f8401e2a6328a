"""The vllm engine with vllm itself and a small real model in it, offline and over HTTP: `make test-vllm`.

What is asserted is structure, repetition at temperature 0, remembered answers and complete books. The model
has 135 million parameters and is wrong more often than not; nothing here says that an answer is good.
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
from pathlib import Path

import pytest

from pipeline import launch
from pipeline.settings import Settings
from prompts.engines.models import OpenAIRow, VllmRow, model_row
from prompts.engines.registry import opened
from prompts.language_model import LanguageModel, ModelRequest
from prompts.tokens import HuggingFaceCounter
from rollouts.planner import Planner, PlanningFailure
from tests.conftest import ROOT
from tests.engine_contract import CHECKS, contract_questions, questions
from tests.test_planner import moment, recall
from warehouse import log, telemetry
from warehouse.database import fetch, writer
from warehouse.domains import Domain

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
max_tokens = 24
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
    command = [sys.executable, "-c", "from pipeline.command import app; app()", "serve-model", "small"]
    server = subprocess.Popen([*command, "--port", str(port)], env=environment)
    try:
        wait_for(f"http://127.0.0.1:{port}/health", server)
        own = OpenAIRow(
            name="served",
            engine="openai",
            model="small",
            base_url=f"http://127.0.0.1:{port}/v1",
            max_tokens=row.max_tokens,
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
    """Two episodes ask for a plan together; each gets a plan, another try or a recorded failure."""
    planner = Planner(domain, recall(domain))
    asked = [planner.request(moment(name)) for name in ("e1", "e2")]
    answers = model.generate([each.request for each in asked])
    for each, answer in zip(asked, answers, strict=True):
        outcome = planner.read(each, answer)
        assert not (isinstance(outcome, PlanningFailure) and outcome.is_infrastructure)
        assert (answer.tokens_in or 0) > 500
        assert 0 < (answer.tokens_out or 0) <= 24
        assert answer.raw.startswith('{"plan_id"')


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_offline_it_keeps_the_contract_of_engines(
    check: Callable[[LanguageModel, Sequence[ModelRequest]], None], offline: LanguageModel, minecraft: Domain
) -> None:
    check(offline, contract_questions(minecraft))


def test_offline_it_answers_a_planning_batch(offline: LanguageModel, minecraft: Domain) -> None:
    planning_batch(offline, minecraft)


def test_a_shared_beginning_is_computed_once(offline: LanguageModel, minecraft: Domain) -> None:
    answers = offline.generate(questions(minecraft))
    assert all((answer.spent.tokens_reused or 0) > 500 for answer in answers)


def test_tokens_are_counted_as_the_model_counts_them(offline: LanguageModel, minecraft: Domain) -> None:
    request = questions(minecraft)[0]
    counter = HuggingFaceCounter(MODEL / "tokenizer.json")
    [answer] = offline.generate([request])
    shown = counter.count(request.system) + counter.count(request.user)
    assert shown < (answer.tokens_in or 0) < shown + 20  # the chat template
    # Its own count, and not one of the text: guided decoding writes a word in other pieces than a tokenizer.
    assert answer.error is not None
    assert (answer.error.reason, answer.tokens_out) == ("length", 24)
    assert counter.count(answer.raw) <= 24


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


def test_served_it_answers_a_planning_batch(served: LanguageModel, minecraft: Domain) -> None:
    planning_batch(served, minecraft)
