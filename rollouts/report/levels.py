"""The task groups in the suite's order, and which of them count as easy and which as hard (levels.toml)."""

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

LEVELS_FILE: Final = Path(__file__).with_name("levels.toml")


@cache
def levels() -> dict[str, str]:
    """Group -> level, groups in the suite's order."""
    listed: dict[str, str] = tomllib.loads(LEVELS_FILE.read_text(encoding="utf-8"))["levels"]
    return listed


def ordered(groups: Iterable[str]) -> tuple[str, ...]:
    """Groups in the suite's order; those that it does not have follow by name."""
    known = list(levels())
    return tuple(
        sorted(
            set(groups),
            key=lambda group: (group not in known, known.index(group) if group in known else 0, group),
        )
    )
