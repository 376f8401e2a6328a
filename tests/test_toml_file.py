"""TOML files, and that every table of settings is read this way."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.curricula import CurriculumFileError, load_curriculum
from pipeline.full_study import ScaleError, scales
from prompts.engines.beliefs import standin_settings
from prompts.engines.models import ModelFileError, load_models
from rollouts.agent import AgentFileError, load_agents
from rollouts.worlds.techtree.situations import SituationFileError, load_situations
from warehouse.domains import load_domain
from warehouse.toml_file import LARGEST, TomlFileError, read_toml

UNREADABLE = {
    "no toml": (b"[a", "end of document"),
    "no text": (b"a = '\xff'", "utf-8"),
    "too deep": (b"a = " + b"[" * 5000, "nested too deeply"),
    "without end": (b"a = " + b"9" * 5000, ""),
    "too long": (b"a = 9223372036854775808", "64 bits"),
    "too long inside": (b"[[a]]\nb = [{c = -9223372036854775809}]", "64 bits"),
    "too large": (b"#" * (LARGEST + 1), "larger than"),
    "a folder": (None, "directory"),
}


def put(folder: Path, content: bytes | None) -> Path:
    path = folder / "x.toml"
    path.mkdir() if content is None else path.write_bytes(content)
    return path


@pytest.mark.parametrize(("content", "said"), UNREADABLE.values(), ids=UNREADABLE)
def test_whatever_is_wrong_is_one_line_with_the_file(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    path = put(tmp_path, content)
    with pytest.raises(TomlFileError) as error:
        read_toml(path)
    assert str(path) in str(error.value)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_the_longest_numbers_that_there_are_can_be_read(tmp_path: Path) -> None:
    path = put(tmp_path, b"a = [-9223372036854775808, 9223372036854775807]")
    assert read_toml(path) == {"a": [-(2**63), 2**63 - 1]}


READERS: dict[str, tuple[Callable[[Path], Any], type[Exception]]] = {
    "models": (load_models, ModelFileError),
    "agents": (load_agents, AgentFileError),
    "curriculum": (lambda path: load_curriculum(path, load_domain("minecraft")), CurriculumFileError),
    "scales": (scales, ScaleError),
    "stand-in": (standin_settings, TomlFileError),
    "situations": (load_situations, SituationFileError),
}


@pytest.mark.parametrize("content", [content for content, _ in UNREADABLE.values()], ids=UNREADABLE)
@pytest.mark.parametrize(("load", "error"), READERS.values(), ids=READERS)
def test_every_table_says_it_in_its_own_way(
    tmp_path: Path, load: Callable[[Path], Any], error: type[Exception], content: bytes | None
) -> None:
    path = put(tmp_path, content)
    with pytest.raises(error, match=r"x\.toml"):
        load(path)


@given(content=st.binary(max_size=60) | st.text("[]{}=.\"'#a1_-:T \n", max_size=60).map(str.encode))
@example(content=b"a = 1979-05-27T07:32:00")
def test_any_bytes_are_tables_or_an_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(content)
    try:
        tables = read_toml(path)
    except TomlFileError:
        return
    assert all(isinstance(key, str) for key in tables)
