"""What the stand-in for a language model takes from a goal's words."""

import re
from typing import Final, NamedTuple

from prompts.planning import Goal
from warehouse.domains import Domain

_TAIL: Final = re.compile(r"\s(?:from|in|into|with|without|using|at|on|onto|to|near|for|by)\s")
_COUNT: Final = re.compile(r"^(?:\d+|an?|the)\s+")


class Reading(NamedTuple):
    """What a goal's words say: the kind of action they begin with, its object, and where to do it."""

    kind: str | None
    object: str | None
    place: str | None


def read_goal(goal: Goal, facts: Domain) -> Reading:
    """The words by the vocabulary of the copy. "Wash a … in a cauldron" has a place, "get" has no kind."""
    words = re.sub(r"\s+", " ", goal.text.replace("_", " ")).strip().rstrip(".").lower()
    verb, _, rest = words.partition(" ")
    head, *tails = _TAIL.split(f"{rest} ")
    kind = facts.kind_of(verb, _COUNT.sub("", head.strip()))
    places = (_named(tail, "use", facts) for tail in tails)
    return Reading(
        kind,
        _named(head, kind, facts),
        next((each for each in places if each in facts.stations | facts.entities), None),
    )


def _named(phrase: str, kind: str | None, facts: Domain) -> str | None:
    if kind is None or facts.kinds[kind] == "none":
        return None
    reading = facts.read_target(_COUNT.sub("", phrase.strip()), kind)
    return None if reading is None else reading.target
