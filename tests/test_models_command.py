"""`mineevolve serve-model`, and what `mineevolve doctor` says of the chosen model."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipeline.command import app
from tests.model_server import MODEL, serving

FAKE_VLLM = Path(__file__).parent / "fake_vllm"


def call(folder: Path, *arguments: str, **environment: str) -> Result:
    settings = {
        "MINEEVOLVE_DATA": str(folder / "home"),
        "MINEEVOLVE_MODELS": str(folder / "models.toml"),
        "COLUMNS": "100",
    }
    return CliRunner().invoke(app, list(arguments), env=settings | environment)


def words(result: Result) -> str:
    return " ".join(result.output.split())


def own(folder: Path, engine: str, **values: str | int) -> None:
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in values.items())
    (folder / "models.toml").write_text(f'[own]\nengine = "{engine}"\n{lines}\n')


@pytest.fixture
def with_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FAKE_VLLM))
    monkeypatch.setenv("PYTHONPATH", str(FAKE_VLLM))


def test_doctor_says_that_nobody_is_asked_by_default(tmp_path: Path) -> None:
    result = call(tmp_path, "doctor")
    assert result.exit_code == 0, result.output
    assert "model: rules, the built-in stand-in: no language model is asked" in words(result)


def test_doctor_asks_an_endpoint_for_its_models(tmp_path: Path) -> None:
    with serving({}) as server:
        own(tmp_path, "openai", model=MODEL, base_url=server.url)
        found = call(tmp_path, "doctor", MINEEVOLVE_MODEL="own")
        own(tmp_path, "openai", model="larger", base_url=server.url)
        lacking = call(tmp_path, "doctor", MINEEVOLVE_MODEL="own")
    gone = call(tmp_path, "doctor", MINEEVOLVE_MODEL="own")
    assert (found.exit_code, lacking.exit_code, gone.exit_code) == (0, 1, 1)
    assert f"model: own: {server.url} has small" in words(found)
    assert f"{server.url} has no larger; it has small" in words(lacking)
    assert "cannot be asked: Connection error.; start the server" in words(gone)
    assert server.bodies == []


def test_doctor_asks_for_the_reviewer_too(tmp_path: Path) -> None:
    with serving({}) as server:
        own(tmp_path, "openai", model=MODEL, base_url=server.url)
        found = call(tmp_path, "doctor", MINEEVOLVE_REVIEWER="own")
    gone = call(tmp_path, "doctor", MINEEVOLVE_REVIEWER="nobody")
    assert (found.exit_code, gone.exit_code) == (0, 1)
    assert f"reviewer: own: {server.url} has small" in words(found)
    assert "reviewer: no model 'nobody'; there are: rules" in words(gone)
    assert "reviewer" not in words(call(tmp_path, "doctor"))


def test_a_reviewer_that_there_is_not_is_one_line(tmp_path: Path) -> None:
    result = call(tmp_path, "run", MINEEVOLVE_REVIEWER="nobody")
    assert result.exit_code == 1
    assert "no model 'nobody'; there are: rules" in words(result)
    assert "Traceback" not in result.output
    assert not (tmp_path / "home" / "traces").exists()


def test_doctor_says_which_key_is_missing(tmp_path: Path) -> None:
    own(tmp_path, "openai", model="m", base_url="http://127.0.0.1:1/v1", api_key_env="OWN_KEY")
    result = call(tmp_path, "doctor", MINEEVOLVE_MODEL="own", OWN_KEY="")
    assert result.exit_code == 1
    assert "set OWN_KEY to it" in words(result)


@pytest.mark.usefixtures("with_vllm")
def test_doctor_finds_vllm_without_loading_anything(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    own(tmp_path, "vllm", model=str(tmp_path / "model"))
    found = call(tmp_path, "doctor", MINEEVOLVE_MODEL="own")
    assert found.exit_code == 0, found.output
    assert f"own: vllm would load {tmp_path / 'model'}" in words(found)
    own(tmp_path, "vllm", model=str(tmp_path / "absent"))
    lacking = call(tmp_path, "doctor", MINEEVOLVE_MODEL="own")
    assert "there is no folder" in words(lacking)


def test_doctor_says_what_to_install(tmp_path: Path) -> None:
    own(tmp_path, "vllm", model="org/model")
    result = call(tmp_path, "doctor", MINEEVOLVE_MODEL="own")
    assert result.exit_code == 1
    assert "pip install 'mineevolve[vllm]'" in words(result)
    own(tmp_path, "vllm", model="org/model", python="/nowhere/python")
    nowhere = call(tmp_path, "doctor", MINEEVOLVE_MODEL="own")
    assert "/nowhere/python cannot be started" in words(nowhere)


def test_a_model_that_there_is_not_is_one_line(tmp_path: Path) -> None:
    for arguments in (("doctor",), ("serve-model",)):
        result = call(tmp_path, *arguments, MINEEVOLVE_MODEL="oracle")
        assert result.exit_code != 0
        assert "no model 'oracle'; there are: rules, qwen3_5_flash" in words(result)
        assert "Traceback" not in result.output


@pytest.mark.usefixtures("with_vllm")
def test_a_model_is_served_with_its_rows_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SERVER_NOTE", str(tmp_path / "note.json"))
    own(tmp_path, "vllm", model="org/model", max_model_len=2048, cpu_cache_gb=3)
    result = call(tmp_path, "serve-model", "own", "--port", "8123")
    assert result.exit_code == 0, result.output
    note = json.loads((tmp_path / "note.json").read_text())
    said = " ".join(note["arguments"])
    assert "--port 8123 --served-model-name own --model org/model" in said
    assert "--max-model-len 2048" in said
    assert note["env"]["VLLM_CPU_KVCACHE_SPACE"] == "3"
    # What it prints is a row that asks it.
    row = result.output[result.output.index("[own-served]") :]
    (tmp_path / "models.toml").write_text(row)
    assert "cannot be asked" in words(call(tmp_path, "doctor", MINEEVOLVE_MODEL="own-served"))


def test_only_a_model_of_vllm_can_be_served(tmp_path: Path) -> None:
    result = call(tmp_path, "serve-model", "rules")
    assert result.exit_code == 2
    assert "model rules is of the engine rules; only a model of the engine vllm" in words(result)
