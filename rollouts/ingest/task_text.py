"""A task in words ("Mine 3 coal ores", "Craft an iron axe", "Kill 1 cow.") read as kind, target and count."""

import re
from typing import NamedTuple

from rollouts.ingest.statements import number
from warehouse.domains import Domain

_ORDER = re.compile(
    r"^(?P<verb>[a-z]+)\s+(?:(?P<count>\d+|an?|the|[a-z]+)\s+)?(?:more\s+)?(?P<phrase>[a-z][a-z _'-]*)$"
)
_TAIL = re.compile(r"\s+(?:from|in|into|with|using|at|on|to|near|for|by)\s+.*$")


class TaskReading(NamedTuple):
    """What a task asks for. `target` and `accepts` are empty where its words name nothing that is known."""

    verb: str
    kind: str | None
    target: str | None
    accepts: frozenset[str]
    needed: int | None


def tidy(text: str) -> str:
    """A task text without control characters, outer blanks and a final full stop; underscores are blanks."""
    plain = "".join(char for char in text.replace("_", " ") if char.isprintable())
    return re.sub(r"\s+", " ", plain).strip().removesuffix(".").strip()


def read_task(text: str, domain: Domain) -> TaskReading:
    """Reads a task. An unparsable one keeps its verb where the domain knows it, and has no target.

    >>> from warehouse.domains import load_domain
    >>> read_task("Mine 3 coal ores", load_domain("minecraft"))[:3]
    ('mine', 'mine', 'coal_ore')
    """
    words = tidy(text).lower()
    verb = words.split(" ", 1)[0]
    match = _ORDER.match(_TAIL.sub("", words))
    if match is None:
        return TaskReading(verb, domain.kind_of(verb), None, frozenset(), None)
    count, phrase = match["count"], match["phrase"]
    if count is not None and number(count) is None and count != "the":
        phrase = f"{count} {phrase}"  # an adjective, not a number
        count = None
    phrase = phrase.removeprefix("more ")
    kind = domain.kind_of(verb, phrase)
    reading = domain.read_target(phrase, kind) if kind else None
    if reading is None:
        return TaskReading(verb, kind, None, frozenset(), None)
    return TaskReading(verb, kind, reading.target, reading.accepts, number(count) or 1)
