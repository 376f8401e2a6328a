"""Files that a user writes or gets: knowledge from elsewhere, and the TOML and JSON tables of settings."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from pipeline.curricula import SHIPPED, CurriculumFileError, load_curriculum
from pipeline.full_study import SCALES, ScaleError, scales
from prompts.engines.beliefs import SETTINGS_FILE, standin_settings
from prompts.engines.models import MODELS, ModelFileError, load_models
from rollouts.agent import AGENTS, AgentFileError, load_agents
from tests.fuzz.recordings import domain
from tests.good_cases import planks_skill, station_remedy, tool_remedy
from tests.test_exchange import line
from warehouse import log
from warehouse.curator import curate
from warehouse.exchange import ExchangeError, facts_imported, note_import
from warehouse.suites import SuiteNotFoundError, find_suite
from warehouse.toml_file import TomlFileError

# --- knowledge


def knowledge(data: bytes, folder: Path) -> None:
    """A file of knowledge: all of it is taken or nothing, and what is taken can be curated."""
    file = folder / "knowledge.jsonl"
    file.write_bytes(data)
    home = folder / "home"
    try:
        taken = note_import(home, "b1", file, "minecraft")
    except ExchangeError as error:
        said = str(error)
    else:
        said = None
    if said is not None:
        assert len(said.splitlines()) == 1
        assert not (home / "log").exists(), "a refused file has left something behind"
        return
    stored = log.candidates_of(log.read(home, "candidates"))
    assert {one.candidate_id for one in stored} == {one.candidate_id for one in taken.candidates}
    facts = facts_imported(log.read(home, "imports"))
    result = curate(stored, facts, {}, (), domain())
    assert {one.candidate_id for one in result.decisions} >= {one.candidate_id for one in stored}


def knowledge_seeds() -> list[bytes]:
    """Whole files, one entry a line."""
    lines = [
        line(case) for case in (planks_skill("oak"), station_remedy("oak", "axe"), tool_remedy("iron_ore"))
    ]
    return [lines[0], lines[1] + lines[2], lines[0] + b"\n" + lines[1][:400]]


# --- tables


class Table(NamedTuple):
    """A file, how it is read, and what reading it may raise."""

    ending: str
    load: Callable[[Path], Any]
    error: type[Exception] | tuple[type[Exception], ...]
    shipped: Callable[[], list[Path]]


def _no_such_suite(path: Path) -> Any:
    try:
        return find_suite(str(path), domain())
    except SuiteNotFoundError as error:
        raise AssertionError(f"{path} is there") from error


TABLES: tuple[Table, ...] = (
    Table("toml", load_models, ModelFileError, lambda: [MODELS]),
    Table("toml", load_agents, AgentFileError, lambda: [AGENTS]),
    Table(
        "toml",
        lambda path: load_curriculum(path, domain()),
        CurriculumFileError,
        lambda: sorted(SHIPPED.glob("*.toml"))[:2],
    ),
    Table("toml", scales, ScaleError, lambda: [SCALES]),
    Table("toml", standin_settings.__wrapped__, (ValidationError, TomlFileError), lambda: [SETTINGS_FILE]),
    Table("json", _no_such_suite, ValueError, lambda: []),
)


def tables(data: bytes, folder: Path) -> None:
    """The first byte says which table the rest is."""
    table = TABLES[data[0] % len(TABLES)] if data else TABLES[0]
    path = folder / f"file.{table.ending}"
    path.write_bytes(data[1:])
    with suppress(table.error):
        table.load(path)


def tables_seeds() -> list[bytes]:
    """What ships with the project."""
    found = [
        bytes([number]) + path.read_bytes()[:4000]
        for number, table in enumerate(TABLES)
        for path in table.shipped()
    ]
    hostile = (
        b"a = " + b"[" * 3000,
        b"a = 9" + b"9" * 5000,
        b"[full]\nname = 'x'\ndoc = 'y'",
        b"a = 1979-05-27",
    )
    suite = (
        b'{"source": "s", "rule": "r", "ticks_per_minute": 1200, "tasks": [{"id": "a", "group": "g", "kind": '
        b'"craft", "instruction": "i", "horizon_ticks": 9, "any_of": ["stick"], "count": 1, "verifiable_by": '
        b'"inventory"}]}'
    )
    found += [bytes([number]) + text for number in range(len(TABLES) - 1) for text in hostile]
    return [*found, bytes([len(TABLES) - 1]) + suite, bytes([len(TABLES) - 1]) + b"[" * 3000]
