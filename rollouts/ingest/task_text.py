"""A task in words ("Mine 3 coal ores", "Craft an iron axe", "Kill 1 cow.") read as kind, target and count."""

import re
from typing import Final, NamedTuple

from rollouts.ingest.statements import number
from warehouse.domains import Domain

_ORDER = re.compile(
    r"^(?P<verb>[a-z]+)\s+(?:(?P<count>\d+|an?|the|[a-z]+)\s+)?(?:more\s+)?(?P<phrase>[a-z][a-z _'-]*)$"
)
_LARGEST: Final = 2**31 - 1  # of the contract's counts
_ESCAPE_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_TAIL = re.compile(r"\s+(?:from|in|into|with|using|at|on|to|near|for|by)\s+.*$")


class TaskReading(NamedTuple):
    """What a task asks for. `target` and `accepts` are empty where its words name nothing that is known."""

    verb: str
    kind: str | None
    target: str | None
    accepts: frozenset[str]
    needed: int | None


def tidy(text: str) -> str:
    """A task text without control characters, outer blanks and a final full stop; underscores, tabs and line
    ends are blanks."""
    words = re.sub(r"[\t\n\r\f\v_]", " ", _ESCAPE_SEQUENCE.sub("", text))
    plain = "".join(char for char in words if char.isprintable())
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
    needed = 1 if count is None else number(count) or (1 if count == "the" else 0)
    reading = domain.read_target(phrase, kind) if kind and 0 < needed <= _LARGEST else None
    if reading is not None:
        return TaskReading(verb, kind, reading.target, reading.accepts, needed)
    if kind == "combat" and 0 < needed <= _LARGEST:
        return _from_a_creature(verb, phrase, needed, domain)
    return TaskReading(verb, kind, None, frozenset(), None)


def _from_a_creature(verb: str, phrase: str, needed: int, domain: Domain) -> TaskReading:
    """An item that is got by killing what drops it: the creature is the target, the item what counts."""
    item = domain.read_target(phrase, "craft") or domain.read_target(phrase, "mine")
    items = domain.expand(item.target) if item is not None else frozenset()
    killed = [source for each in sorted(items) for kind, source in domain.sources(each) if kind == "combat"]
    if not killed:
        return TaskReading(verb, "combat", None, frozenset(), None)
    return TaskReading(verb, "combat", killed[0], items, needed)
