"""A message read as a signal, and tables of patterns that read."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from warehouse.domains import Domain


@dataclass(frozen=True)
class Reading:
    """An event's signal with the things it names. `items` are shortages: (name, count)."""

    signal: str | None
    name: str | None = None
    count: int | None = None
    items: tuple[tuple[str, int], ...] = ()


NOTHING: Final = Reading(None)
Maker = Callable[[re.Match[str], Domain], Reading]
Readers = list[tuple[re.Pattern[str], Maker]]


def table(rows: Iterable[tuple[str, Maker]], flags: re.RegexFlag = re.NOFLAG) -> Readers:
    """Patterns with what makes a reading of their match, compiled."""
    return [(re.compile(source, flags), maker) for source, maker in rows]


def first(readers: Readers, text: str, domain: Domain) -> Reading | None:
    """The first reading that finds a signal in a text."""
    for pattern, make in readers:
        match = pattern.search(text)
        reading = make(match, domain) if match else NOTHING
        if reading.signal:
            return reading
    return None


def plain(signal: str | None) -> Maker:
    """A signal that names nothing."""
    return lambda match, domain: Reading(signal)


def named(signal: str) -> Maker:
    """A signal that names the pattern's `name`."""
    return lambda match, domain: Reading(signal, match["name"])


def action(signal: str, verb: str) -> Maker:
    """A signal about an action: `<verb>:<name>`, and the pattern's `count` or 1."""

    def make(match: re.Match[str], domain: Domain) -> Reading:
        count = match.groupdict().get("count")
        return Reading(signal, f"{verb}:{match['name']}", int(count) if count else 1)

    return make
