"""The closed vocabularies hold nothing that nobody uses."""

import re
from pathlib import Path

from warehouse import vocabulary

ROOT = Path(__file__).parents[1]
SOURCES = "\n".join(
    path.read_text()
    for package in ("warehouse", "prompts", "rollouts")
    for path in sorted((ROOT / package).rglob("*.py"))
    if path != ROOT / "warehouse" / "vocabulary.py"
)


def test_every_vocabulary_is_used() -> None:
    names = [name for name in vars(vocabulary) if name.isupper()]
    assert len(names) > 10
    assert [name for name in names if not re.search(rf"\b{name}\b", SOURCES)] == []
    assert not hasattr(vocabulary, "FailureType")


def test_every_finding_can_be_found() -> None:
    assert [finding for finding in vocabulary.FINDINGS if f'"{finding}"' not in SOURCES] == []
