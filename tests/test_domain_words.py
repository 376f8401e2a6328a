"""A domain is data: nothing outside the Minecraft domain and its worlds names a thing of Minecraft."""

import ast
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from warehouse.domains import load_domain

ROOMS = ("assets", "pipeline", "prompts", "rollouts", "warehouse")
OF_A_GAME = (
    "warehouse/domains/minecraft/",
    # Another game, in which some things have the same names.
    "warehouse/domains/crafter/",
    "rollouts/worlds/",
    # The formats that Minecraft's recordings come in.
    "rollouts/ingest/",
    # Orders of the task groups of Minecraft's suite, which are named after its materials.
    "pipeline/shipped_curricula/",
)
ENGLISH = frozenset(
    {"air", "chain", "clock", "compass", "item", "lead", "map", "paper", "stick", "stray", "string", "target"}
)
"""names of things that mean something else in a program"""
EXCEPTIONS = {
    "assets/domain_choice.py": ({"minecraft"}, "the domain that is worked on when none is named"),
    "assets/resources.py": ({"minecraft"}, "the same"),
    "rollouts/exercise.py": ({"minecraft"}, "what is said beside the figures of the stand-in for Minecraft"),
    "pipeline/command/study.py": ({"minecraft"}, "the same"),
    "pipeline/notebook/standard.py": ({"minecraft"}, "the same"),
    "pipeline/full_study.py": ({"diamond"}, "the paper's tables are about its Diamond tasks"),
    "pipeline/command/full_study.py": ({"diamond"}, "the same"),
    "assets/studies.py": ({"diamond"}, "the same"),
    "rollouts/studies/page.py": ({"diamond"}, "the same"),
    "rollouts/studies/studies.html.j2": ({"diamond"}, "the same"),
    "rollouts/studies/charts.py": ({"diamond"}, "the same, and a mark's shape"),
    "rollouts/report/charts.py": ({"diamond"}, "a mark's shape"),
    "rollouts/report/entry_charts.py": ({"diamond"}, "a mark's shape"),
    "rollouts/report/entry.html.j2": ({"diamond"}, "a mark's shape"),
    "rollouts/report/report.html.j2": ({"diamond"}, "a mark's shape"),
    "rollouts/sample.toml": (None, "a made-up recording of Minecraft"),
    "rollouts/parameters.toml": ({"villager"}, "a reason for a change of the world techtree"),
    "warehouse/backtest.py": ({"fire"}, "a condition fires where it holds"),
    "warehouse/vocabulary.py": ({"crafting_table", "furnace"}, "the trace contract's names of open screens"),
    "warehouse/sql/views/ticks.sql": ({"crafting_table", "furnace"}, "the same"),
}
"""file -> the words that may stand there, all where None, and why"""


def minecraft_words() -> frozenset[str]:
    """The game's own name, and every item, block and entity."""
    minecraft = load_domain("minecraft")
    return ({minecraft.name} | minecraft.items | minecraft.blocks | minecraft.entities) - ENGLISH


def said(path: Path) -> str:
    """What a file says to the machine: without comments, docstrings and the notes below names."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(getattr(node, "body", None), list):
                node.body = [each for each in node.body if not _is_note(each)] or [ast.Pass()]  # type: ignore[attr-defined]
        return ast.unparse(tree)
    mark = {".toml": "#", ".sql": "--"}.get(path.suffix)
    return text if mark is None else re.sub(rf"(?m){mark}.*$", "", text)


def _is_note(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def checked_files() -> list[str]:
    kinds = {".py", ".toml", ".sql", ".j2", ".json"}
    found = [path for room in ROOMS for path in (ROOT / room).rglob("*") if path.suffix in kinds]
    return [
        name
        for path in sorted(found)
        if not (name := path.relative_to(ROOT).as_posix()).startswith(OF_A_GAME)
    ]


def test_no_word_of_minecraft_stands_outside_its_domain_and_its_worlds() -> None:
    names, wrong, needed = minecraft_words(), {}, set()
    files = checked_files()
    assert len(files) > 200
    for each in files:
        found = names & set(re.findall(r"[a-z]+(?:_[a-z]+)*", said(ROOT / each).lower()))
        allowed = EXCEPTIONS.get(each, (set(), ""))[0]
        if not found:
            continue
        needed.add(each)
        if allowed is not None and not found <= allowed:
            wrong[each] = sorted(found - allowed)
    assert wrong == {}
    assert sorted(set(EXCEPTIONS) - needed) == [], "exceptions that nothing needs any more"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('blocks = [\n    "oak_log",\n]\n', True),
        ('"""As an oak_log."""\n', False),
        ("x = 1  # an oak_log\n", False),
    ],
)
def test_examples_in_notes_are_let_pass_and_values_are_not(tmp_path: Path, source: str, found: bool) -> None:
    path = tmp_path / "made.py"
    path.write_text(source, encoding="utf-8")
    assert ("oak_log" in said(path)) is found
