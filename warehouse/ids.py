"""Derived ids: the first 20 hex digits of a sha256 over canonical content, never random, never a clock.

>>> derive_id("feedback", {"episode_id": "e1", "attempt": 0}) == derive_id(
...     "feedback", {"attempt": 0, "episode_id": "e1"})
True
"""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import orjson

ID_LENGTH = 20
BUILD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""what the whole name of a build has to match: it names folders"""
FLOAT_PLACES = 6
_CHUNK = 1 << 20


def canonical(value: Any) -> Any:
    """`value` as plain JSON data that always serialises to the same bytes.

    Mappings are sorted by key, sets by their canonical bytes, floats rounded to 6 places (so that the last
    bits of a sum do not change an id), -0.0 becomes 0.0. A float that is not finite is refused with
    `ValueError`: it has no JSON form. What is `spelled` out already stays as it is.
    """
    # Most of what comes is plain, and is told so at once: an `isinstance` with an abstract class is dear.
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None or kind is orjson.Fragment:
        return value
    if kind is dict:
        return {str(key): canonical(value[key]) for key in sorted(value, key=str)}
    if kind is list or kind is tuple:
        return [canonical(item) for item in value]
    if isinstance(value, Enum):
        return canonical(value.value)
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"a float that is not finite cannot be part of an id: {value!r}")
        return round(value, FLOAT_PLACES) + 0.0
    if isinstance(value, Mapping):
        return {str(key): canonical(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, set | frozenset):
        return sorted((canonical(item) for item in value), key=orjson.dumps)
    if isinstance(value, list | tuple):
        return [canonical(item) for item in value]
    if hasattr(value, "model_dump"):
        return canonical(value.model_dump(mode="json"))
    raise TypeError(f"{type(value).__name__} has no canonical form")


def canonical_bytes(value: Any) -> bytes:
    """`canonical(value)` as compact JSON, UTF-8."""
    return orjson.dumps(canonical(value))


def spelled(value: Any) -> orjson.Fragment:
    """`value` in its canonical form, once and for all: a part of several ids need not be spelt out for each.
    `canonical_bytes` of what contains it are the same as if it were `value` itself."""
    return orjson.Fragment(canonical_bytes(value))


def digest(value: Any) -> str:
    """The full sha256 of `value`'s canonical JSON, 64 hex digits."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def derive_id(what: str, content: Any) -> str:
    """A 20-digit id for a thing of type `what` ("episode", "feedback", ...) with this defining content."""
    return digest([what, content])[:ID_LENGTH]


def digest_lines(rows: Iterable[Any]) -> str:
    """sha256 over canonical JSON lines, in the order given (the caller sorts)."""
    running = hashlib.sha256()
    for row in rows:
        running.update(canonical_bytes(row))
        running.update(b"\n")
    return running.hexdigest()


def file_digest(path: Path) -> str:
    """sha256 of a file's bytes, read in pieces of 1 MiB."""
    running = hashlib.sha256()
    with path.open("rb") as handle:
        while piece := handle.read(_CHUNK):
            running.update(piece)
    return running.hexdigest()
