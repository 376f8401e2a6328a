"""The file of models: what its rows may say, what is said of a wrong one, and what a model is called."""

import re
from pathlib import Path
from typing import Any

import pytest

from prompts.engines.identity import folder_digest, name_of
from prompts.engines.models import (
    ModelFileError,
    OpenAIRow,
    RulesRow,
    UnknownModelError,
    VllmRow,
    load_models,
    model_row,
)
from prompts.engines.registry import opened
from prompts.engines.vllm_server import serve_command, serve_environment
from tests.conftest import ROOT
from warehouse.domains import Domain

FIVE_PLANNERS = {
    "qwen3_5_flash": "qwen3.5-flash",
    "qwen3_5_plus": "qwen3.5-plus",
    "glm_4_7": "glm-4.7",
    "gemini_3_flash": "gemini-3-flash-preview",
    "gpt_5_5": "gpt-5.5",
}


def vllm(**changes: Any) -> VllmRow:
    return VllmRow(**{"name": "own", "engine": "vllm", "model": "org/model", **changes})


def openai(**changes: Any) -> OpenAIRow:
    base = {"name": "own", "engine": "openai", "model": "m", "base_url": "http://127.0.0.1:1/v1"}
    return OpenAIRow(**{**base, **changes})


def test_the_rows_that_ship_are_the_stand_in_and_the_papers_planners() -> None:
    rows = load_models()
    assert isinstance(rows["rules"], RulesRow)
    assert set(rows) == {"rules", *FIVE_PLANNERS}
    planners = {name: row for name, row in rows.items() if name != "rules"}
    assert {name: row.model for name, row in planners.items() if isinstance(row, OpenAIRow)} == FIVE_PLANNERS
    for row in planners.values():
        assert isinstance(row, OpenAIRow)
        assert row.base_url.startswith("https://")
        assert row.api_key_env is not None


def test_own_rows_are_added_and_replace_those_of_the_same_name(tmp_path: Path) -> None:
    own = tmp_path / "models.toml"
    own.write_text(
        '[local]\nengine = "vllm"\nmodel = "org/model"\n\n'
        '[gpt_5_5]\nengine = "openai"\nmodel = "other"\nbase_url = "http://127.0.0.1:1/v1"\n'
    )
    assert model_row("local", own) == vllm(name="local")
    replaced = model_row("gpt_5_5", own)
    assert isinstance(replaced, OpenAIRow)
    assert (replaced.model, replaced.api_key_env) == ("other", None)
    assert model_row("rules", tmp_path / "absent.toml") == model_row("rules")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a]\nmodel = 'm'", r"\[a\] engine: is missing; there are: rules, vllm, openai"),
        ("[a]\nengine = 'llama'", r"\[a\] engine: there are: rules, vllm, openai"),
        ("[a]\nengine = 'vllm'", r"\[a\] model: is missing"),
        ("[a]\nengine = 'vllm'\nmodel = 'm'\napi_key_env = 'K'", "api_key_env: no such key for this engine"),
        ("[a]\nengine = 'vllm'\nmodel = 'm'\nmemory_share = 1.5", "memory_share: .*less than or equal to 1"),
        ("[a]\nengine = 'openai'\nmodel = 'm'\nbase_url = '127.0.0.1'", r"\[a\] base_url: "),
        ("[a]\nengine = 'rules'", r"\[a\] name: Input should be 'rules'"),
        ("[rules]\nengine = 'vllm'\nmodel = 'm'", "is the stand-in's name"),
        ("engine = 'rules'", "engine stands outside a row"),
        ("[a", "models.toml: "),
        ("[a]\nname = 'b'\nengine = 'rules'", r"\[a\] name: Input should be 'rules'"),
    ],
)
def test_a_wrong_row_is_named_with_its_key(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "models.toml").write_text(text)
    with pytest.raises(ModelFileError, match=said):
        load_models(tmp_path / "models.toml")


def test_a_key_in_the_file_is_refused_and_not_repeated(tmp_path: Path) -> None:
    own = tmp_path / "models.toml"
    own.write_text(
        "[a]\nengine = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1/v1'\napi_key = 'sk-1234'\n"
    )
    with pytest.raises(ModelFileError, match="api_key: no such key") as caught:
        load_models(own)
    assert "sk-1234" not in str(caught.value)


def test_the_rows_on_the_page_can_be_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "models.md").read_text()
    [example] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "models.toml").write_text(example)
    assert {"qwen", "lab"} <= set(load_models(tmp_path / "models.toml"))
    keys = {*VllmRow.model_fields, *OpenAIRow.model_fields} - {"name", "doc", "engine"}
    assert {key for key in keys if f"`{key}`" not in page} == set()


def test_an_unknown_model_is_told_the_names_there_are() -> None:
    with pytest.raises(UnknownModelError, match="no model 'oracle'; there are: rules, qwen3_5_flash"):
        model_row("oracle", Path("models.toml"))


SAME_ANSWERS: list[dict[str, Any]] = [
    {"name": "another"},
    {"memory_share": 0.3},
    {"devices": "1"},
    {"batch_timeout_s": 9.0},
    {"seed": 4},
    {"price_in": 1.0},
]
OTHER_ANSWERS: list[dict[str, Any]] = [
    {"model": "org/another"},
    {"temperature": 0.5},
    {"dtype": "float32"},
    {"max_model_len": 99},
    {"max_tokens": 9},
    {"show_schema": False},
    {"arguments": {"quantization": "awq"}},
]


@pytest.mark.parametrize("change", SAME_ANSWERS, ids=lambda change: next(iter(change)))
def test_what_changes_no_answer_leaves_the_name(change: dict[str, Any]) -> None:
    assert name_of(vllm(**change)) == name_of(vllm())


@pytest.mark.parametrize("change", OTHER_ANSWERS, ids=lambda change: next(iter(change)))
def test_what_changes_answers_changes_the_name(change: dict[str, Any]) -> None:
    assert name_of(vllm(**change)) != name_of(vllm())


def test_the_seed_is_part_of_the_name_where_it_draws() -> None:
    warm = {"temperature": 0.7}
    assert name_of(vllm(**warm, seed=1)) != name_of(vllm(**warm, seed=2))


def test_an_endpoint_is_known_by_its_host_and_its_model() -> None:
    assert name_of(openai()) == name_of(openai(base_url="http://127.0.0.1:2/v1"))
    assert name_of(openai()).startswith("openai/m@127.0.0.1/")
    assert name_of(openai()) != name_of(openai(base_url="http://other:1/v1"))
    assert name_of(openai()) != name_of(openai(send_sampling=False))


def test_a_folder_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    for name, weights in (("a", b"1" * 100), ("b", b"1" * 100), ("c", b"1" * 99 + b"2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(weights)
        (tmp_path / name / "config.json").write_text("{}")
    digests = [folder_digest(tmp_path / name) for name in ("a", "b", "c")]
    assert digests[0] == digests[1] != digests[2]
    # Beyond 16 MiB the beginning and the end are looked at.
    for name, last in (("a", b"1"), ("b", b"2")):
        with (tmp_path / name / "model.safetensors").open("wb") as file:
            file.seek(20 << 20)
            file.write(last)
    assert folder_digest(tmp_path / "a") != folder_digest(tmp_path / "b")


def test_seeds_that_make_no_difference_are_one_model(minecraft: Domain) -> None:
    with opened(openai(), minecraft) as models:
        assert models(0) is models(3)
    with opened(openai(temperature=0.7, seed=1), minecraft) as models:
        assert models(0) is not models(3)
        assert models(3).name == name_of(openai(temperature=0.7, seed=4))
    with opened(RulesRow(name="rules", engine="rules"), minecraft) as models:
        assert models(0) is models(0)


def test_serving_takes_the_same_settings() -> None:
    row = vllm(name="small", python="/opt/python", memory_share=0.5, enforce_eager=True, cpu_cache_gb=2)
    command = serve_command(row, "127.0.0.1", 8001)
    assert command[:3] == ["/opt/python", "-m", "vllm.entrypoints.openai.api_server"]
    said = " ".join(command)
    for option in (
        "--host 127.0.0.1",
        "--port 8001",
        "--served-model-name small",
        "--model org/model",
        "--gpu-memory-utilization 0.5",
        "--enforce-eager",
        "--enable-prefix-caching",
        '--structured-outputs-config {"backend":"xgrammar","disable_any_whitespace":true}',
    ):
        assert option in said
    assert "--no-enforce-eager" in serve_command(vllm(), "127.0.0.1", 1)
    assert serve_environment(row)["VLLM_CPU_KVCACHE_SPACE"] == "2"
    assert "VLLM_ENABLE_V1_MULTIPROCESSING" not in serve_environment(row)
