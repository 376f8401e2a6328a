"""A JSON file that should be one list, read as far as it can be read, with the byte where reading broke."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

LARGEST_FILE: Final = 1 << 25
"""bytes; the longest recorded attempt at hand has 135 kB, and small bytes can be large lists in memory"""
AFTER_THE_LIST: Final = "foreign content after the list"
_BLANK = re.compile(r"[\s,]*")


@dataclass
class Salvage:
    """The elements that could be read with their byte offsets, and why reading stopped (None: it did not)."""

    elements: list[tuple[int, Any]] = field(default_factory=list)
    broken_at: int | None = None
    reason: str | None = None
    size: int = 0


def read_list(path: Path) -> Salvage:
    """Reads a file that should hold one JSON list. Never raises on its content.

    An intact file comes from the fast parser, with offset -1 for every element; a broken one is read element
    by element, and everything before the break is kept.
    """
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            return Salvage(reason=f"larger than {LARGEST_FILE} bytes", size=size)
        content = path.read_bytes()
    except OSError as error:
        return Salvage(reason=f"cannot be read: {error.strerror}")
    if not content.strip(b"\0 \t\r\n"):
        return Salvage(broken_at=0, reason="empty file", size=len(content))
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return _element_by_element(content)
    if not isinstance(value, list):
        return Salvage(broken_at=0, reason="another format: not a JSON list", size=len(content))
    return Salvage([(-1, element) for element in value], size=len(content))


def locate(path: Path) -> list[int]:
    """The byte offset of every element of a file that `read_list` read without a break."""
    return [offset for offset, _ in _element_by_element(path.read_bytes()).elements]


def _element_by_element(content: bytes) -> Salvage:
    text = content.decode("utf-8", "surrogateescape")
    found = Salvage(size=len(content))
    start = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    if not text.startswith("[", start):
        found.broken_at, found.reason = 0, "another format: not a JSON list"
        return found
    decoder = json.JSONDecoder()
    offset = _Offsets(text)
    at = start + 1
    while True:
        at = _BLANK.match(text, at).end()  # type: ignore[union-attr]  # matches the empty string too
        if at >= len(text):
            found.broken_at, found.reason = len(content), "truncated: the list does not end"
            return found
        if text[at] == "]":
            rest = text[at + 1 :].strip("\0 \t\r\n")
            if rest:
                found.broken_at = offset.of(at + 1)
                found.reason = AFTER_THE_LIST
            return found
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:  # a number without end is a ValueError of another sort
            found.broken_at = offset.of(at)
            cut = isinstance(error, json.JSONDecodeError) and error.pos >= len(text.rstrip()) - 1
            truncated = cut or "Unterminated" in str(error)
            found.reason = f"{'truncated' if truncated else 'broken'} inside an element: {error}"
            return found
        found.elements.append((offset.of(at), value))
        at = end


class _Offsets:
    """Byte offsets of ever later characters, counted on from the last one asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._char = 0
        self._byte = 0

    def of(self, char: int) -> int:
        self._byte += len(self._text[self._char : char].encode("utf-8", "surrogateescape"))
        self._char = char
        return self._byte
