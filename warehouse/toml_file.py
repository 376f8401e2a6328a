"""TOML files, read so that whatever is wrong with one is said in one way."""

import tomllib
from pathlib import Path
from typing import Any, Final

LARGEST: Final = 1 << 20
"""bytes; the largest that ship have 20 kB"""
_WHOLE: Final = range(-(2**63), 2**63)  # what TOML calls an integer, and what every store holds


class TomlFileError(ValueError):
    """A file is no TOML, or has a value that cannot be stored; the text names the file, in one line."""


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file. `TomlFileError` for one that cannot be read, is larger than `LARGEST`, is nested
    too deeply, or holds a whole number of more than 64 bits."""
    try:
        if path.stat().st_size > LARGEST:
            raise TomlFileError(f"{path}: is larger than {LARGEST} bytes")
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise TomlFileError(f"{path}: is nested too deeply") from error
    except TomlFileError:
        raise
    except (OSError, ValueError) as error:  # what tomllib says, bytes that are no text, numbers without end
        raise TomlFileError(f"{path}: {error}") from error
    waiting: list[Any] = [tables]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, int) and value not in _WHOLE:
            raise TomlFileError(f"{path}: a whole number has at most 64 bits")
    return tables
