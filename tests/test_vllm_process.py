"""The process with the model in it: it starts late, ends with its context, and whatever happens to it becomes
errors of one batch. Behind it is the vllm of tests/fake_vllm."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prompts.engines.models import VllmRow
from prompts.engines.vllm_process import STARTS, EngineMissingError, VllmModel, VllmProcess
from prompts.language_model import Message, ModelRequest
from tests.conftest import ROOT
from tests.engine_contract import answers_of_the_stand_in, questions
from warehouse.domains import Domain

FAKE_VLLM = Path(__file__).parent / "fake_vllm"


@pytest.fixture(scope="module")
def requests(minecraft: Domain) -> list[ModelRequest]:
    return questions(minecraft)


@pytest.fixture
def folder(tmp_path: Path, minecraft: Domain, requests: list[ModelRequest]) -> Path:
    (tmp_path / "answers.json").write_text(json.dumps(answers_of_the_stand_in(minecraft, requests)))
    return tmp_path


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FAKE_VLLM))


def row(folder: Path | str, **changes: Any) -> VllmRow:
    return VllmRow(name="own", engine="vllm", model=str(folder), **changes)


@pytest.fixture
def model(folder: Path) -> Iterator[VllmModel]:
    with VllmProcess(row(folder)) as process:
        yield VllmModel(row(folder), process)


def saying(request: ModelRequest, text: str) -> ModelRequest:
    return replace(request, messages=(*request.messages[:-1], Message("user", text)))


def loaded(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "loaded.json").read_text())
    return found


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A child that nobody has waited for is no longer running either.
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def wait_until(what: Any, limit_s: float = 10.0) -> bool:
    deadline = time.monotonic() + limit_s
    while not what() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(what())


def test_nothing_is_started_before_the_first_question(folder: Path, requests: list[ModelRequest]) -> None:
    with VllmProcess(row(folder)) as process:
        model = VllmModel(row(folder), process)
        assert model.name.startswith(f"vllm/{folder.name}/")
        assert not (folder / "loaded.json").exists()
        model.generate(requests)
        pid = loaded(folder)["pid"]
        assert pid != os.getpid()
        assert is_alive(pid)
    assert not is_alive(pid)


def test_the_row_reaches_the_engine_and_its_environment(folder: Path, requests: list[ModelRequest]) -> None:
    own = row(
        folder,
        dtype="float32",
        max_model_len=2048,
        memory_share=0.4,
        devices="1",
        cpu_cache_gb=2,
        seed=5,
        arguments={"quantization": "awq"},
    )
    with VllmProcess(own) as process:
        VllmModel(own, process).generate(requests)
    found = loaded(folder)
    assert found["arguments"] == {
        "dtype": "float32",
        "seed": 5,
        "tensor_parallel_size": 1,
        "enforce_eager": False,
        "enable_prefix_caching": True,
        "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
        "max_model_len": 2048,
        "gpu_memory_utilization": 0.4,
        "quantization": "awq",
    }
    expected = {"CUDA_VISIBLE_DEVICES": "1", "VLLM_CPU_KVCACHE_SPACE": "2", "HF_HUB_OFFLINE": "1"}
    assert expected.items() <= found["env"].items()


def test_prompt_tokens_that_were_known_are_counted(model: VllmModel, requests: list[ModelRequest]) -> None:
    first, second, other = model.generate(requests)
    assert [each.spent.tokens_reused for each in (first, second, other)] == [0, 5, 0]


def test_an_answer_is_cut_where_the_row_says(folder: Path, requests: list[ModelRequest]) -> None:
    short = row(folder, max_tokens=1)
    with VllmProcess(short) as process:
        answers = VllmModel(short, process).generate(requests)
    assert [answer.error and answer.error.reason for answer in answers] == ["length"] * 3
    assert all(answer.raw for answer in answers)


@pytest.mark.parametrize(
    ("word", "said"),
    [("CRASH", "(signal 9): out of memory"), ("BREAK", "RuntimeError: the engine broke")],
)
def test_a_crash_costs_its_batch_and_the_next_one_gets_a_new_process(
    model: VllmModel, requests: list[ModelRequest], word: str, said: str
) -> None:
    lost = model.generate([requests[0], saying(requests[1], word)])
    assert [answer.error and answer.error.reason for answer in lost] == ["engine", "engine"]
    assert said in (lost[0].error.detail if lost[0].error else "")
    assert [answer.error for answer in model.generate(requests)] == [None, None, None]


def test_a_model_that_always_crashes_is_not_started_for_ever(
    model: VllmModel, requests: list[ModelRequest]
) -> None:
    poison = [saying(requests[0], "CRASH")]
    details = [model.generate(poison)[0].error for _ in range(STARTS + 1)]
    assert [error and error.reason for error in details] == ["engine"] * (STARTS + 1)
    assert details[-1] is not None
    assert "started 3 times" in details[-1].detail


def test_a_batch_that_hangs_is_given_up(folder: Path, requests: list[ModelRequest]) -> None:
    impatient = row(folder, batch_timeout_s=0.5)
    with VllmProcess(impatient) as process:
        model = VllmModel(impatient, process)
        model.generate(requests)
        pid = loaded(folder)["pid"]
        [hung] = model.generate([saying(requests[0], "HANG")])
        assert hung.error is not None
        assert hung.error.reason == "timeout"
        assert not is_alive(pid)


def test_questions_that_are_refused_cost_themselves(model: VllmModel, requests: list[ModelRequest]) -> None:
    refused, unguided = (saying(requests[0], word) for word in ("TOO LONG", "UNGUIDED"))
    answers = model.generate([refused, *requests, unguided])
    reasons = [answer.error and answer.error.reason for answer in answers]
    assert reasons == ["engine", None, None, None, "engine"]
    assert answers[0].error is not None
    assert answers[0].error.detail == "ValueError: The prompt is too long"
    assert answers[4].error is not None
    assert answers[4].error.detail.startswith("VLLMClientError: The schema has features")


@pytest.mark.parametrize(
    ("name", "reason", "said"),
    [
        ("unloadable", "engine", "RuntimeError: no such model"),
        ("slow to load", "timeout", "loading the model took longer than 0.5 s"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_an_error_of_the_batch(
    requests: list[ModelRequest], name: str, reason: str, said: str
) -> None:
    own = row(name, start_timeout_s=0.5 if "slow" in name else 60.0)
    with VllmProcess(own) as process:
        answers = VllmModel(own, process).generate(requests)
    assert {answer.error and (answer.error.reason, answer.error.detail) for answer in answers} == {
        (reason, said)
    }


def test_without_vllm_the_error_says_what_to_install(
    folder: Path, requests: list[ModelRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH")
    with (
        VllmProcess(row(folder)) as process,
        pytest.raises(EngineMissingError, match=r"pip install 'mineevolve\[vllm\]'"),
    ):
        VllmModel(row(folder), process).generate(requests)


def test_an_interpreter_that_is_not_there_is_named(folder: Path, requests: list[ModelRequest]) -> None:
    own = row(folder, python="/nowhere/python")
    with VllmProcess(own) as process, pytest.raises(EngineMissingError, match="/nowhere/python"):
        VllmModel(own, process).generate(requests)


@pytest.mark.parametrize("busy", [False, True])
def test_it_ends_when_this_process_is_killed(folder: Path, busy: bool) -> None:
    script = textwrap.dedent(
        """
        import sys, time
        from prompts.engines.models import VllmRow
        from prompts.engines.vllm_process import VllmProcess
        from prompts.engines.vllm_messages import Question, Turn
        process = VllmProcess(VllmRow(name="own", engine="vllm", model=sys.argv[1]))
        question = Question(turns=(Turn(role="user", content=sys.argv[2]),), json_schema={"type": "object"},
                            max_tokens=5, temperature=0, top_p=1, seed=0)
        process.ask([question])
        print("asked", flush=True)
        time.sleep(600)
        """
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(FAKE_VLLM)])}
    command = [sys.executable, "-c", script, str(folder), "HANG" if busy else "hello"]
    parent = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    try:
        assert wait_until(lambda: (folder / "loaded.json").exists() and loaded_whole(folder), 30)
        pid = loaded(folder)["pid"]
        assert is_alive(pid)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        if parent.stdout:
            parent.stdout.close()
    assert wait_until(lambda: not is_alive(pid))


def loaded_whole(folder: Path) -> bool:
    try:
        return bool(loaded(folder))
    except json.JSONDecodeError:
        return False
