"""What an agent says in its own words, read as a statement: a claim, a possession, a want, a search.

Recorded agents write their messages themselves, so the wording is free. A statement is read by its verb form
and its noun phrase, never by a list of known sentences; a text that is none of these gives no statement.

>>> [(s.kind, s.phrase, s.count) for s in statements("Mined 2 iron ores.")]
[('claim', 'iron ores', 2)]
>>> [(s.kind, s.phrase, s.count) for s in statements("Already have a stone shovel.")]
[('have', 'stone shovel', 1)]
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from warehouse.domains.english import inflector

StatementKind = Literal["claim", "have", "short", "need", "absent", "seen"]

_LARGEST_NUMBER_WORD: Final = 64  # one full stack; larger numbers are written in digits

# Past form -> the verb as an order would give it.
PAST_FORMS: Final = {
    "mined": "mine", "dug": "dig", "chopped": "chop", "collected": "collect", "gathered": "gather",
    "harvested": "harvest", "obtained": "obtain", "acquired": "obtain", "got": "get", "picked": "collect",
    "crafted": "craft", "made": "craft", "built": "craft", "created": "craft", "smelted": "smelt",
    "cooked": "cook", "killed": "kill", "slain": "kill", "defeated": "kill", "hunted": "kill",
    "placed": "place", "deposited": "deposit", "planted": "place", "used": "use", "eaten": "eat",
    "ate": "eat", "traded": "trade", "equipped": "equip", "caught": "catch", "sheared": "shear",
}  # fmt: skip
_GERUNDS: Final = {
    "mining": "mine", "digging": "dig", "chopping": "chop", "collecting": "collect", "gathering": "gather",
    "harvesting": "harvest", "obtaining": "obtain", "getting": "get", "crafting": "craft", "making": "craft",
    "building": "craft", "smelting": "smelt", "cooking": "cook", "killing": "kill", "hunting": "kill",
    "placing": "place", "depositing": "deposit", "planting": "place", "eating": "eat",
}  # fmt: skip
_VERBS: Final = PAST_FORMS | _GERUNDS

_WHO: Final = r"(?:(?:i|we|you|bot|the\s+bot)(?:'ve)?\s+)?"
_NOT: Final = r"(?:do\s*n[o']?t|don't|does\s+not|doesn't|did\s+not|didn't)"
_CANNOT: Final = r"(?:could\s*n[o']t|couldn't|can\s*not|can't|failed\s+to|unable\s+to|did\s+not|didn't)"
_BE: Final = r"(?:(?:has\s+been|have\s+been|is|are|was|were)\s+)?"
_BAG: Final = r"(?:the\s+|my\s+|bot's\s+|its\s+)?inventory"
_NOUN: Final = r"(?P<phrase>[a-z][a-z _'-]*?)"
_END: Final = r"\s*[.!…]*$"
_TAIL: Final = re.compile(
    r"\s+(?:in|from|into|to|with|within|on|at|for|near|nearby|around|using|by|of them|so far|again"
    r"|successfully|now|already|yet)\b.*$"
)
_CLAUSES: Final = re.compile(r"(?<=[.!])\s+|\s+(?:and|but|then)\s+|\s*[;,]\s+|:\s+")


@dataclass(frozen=True)
class Statement:
    """`kind` of statement, its verb (imperative, '' where none), its noun phrase and its count if given.

    `more`: the count is of what is still to come ("need 2 more sticks"), not a total.
    """

    kind: StatementKind
    verb: str
    phrase: str
    count: int | None
    more: bool = False


@cache
def _number_words() -> dict[str, int]:
    # inflect asks for a `numbers.Number`, which mypy does not take an int for.
    return {str(inflector().number_to_words(n)): n for n in range(1, _LARGEST_NUMBER_WORD + 1)}  # type: ignore[arg-type]


@cache
def _patterns() -> list[tuple[StatementKind, re.Pattern[str]]]:
    words = "|".join(sorted(_number_words(), key=len, reverse=True))
    amount = rf"(?P<count>\d+\s*/\s*\d+|\d+|a|an|the|one|all|any|enough|some|{words})"
    count = rf"(?:all\s+(?=\d))?(?:{amount}\s+)?(?P<more>(?:more|additional|another)\s+)?"
    past, gerund = "|".join(PAST_FORMS), "|".join(_GERUNDS)
    not_done = rf"(?!(?:successfully\s+)?(?:{past})\b)"
    sources: list[tuple[StatementKind, str]] = [
        (
            "have",
            rf"^{_WHO}(?:already\s+(?:have|has|got)|(?:have|has)\s+already)\s+{count}{not_done}{_NOUN}{_END}",
        ),
        (
            "have",
            rf"^(?:i|we|bot|the\s+bot)\s+(?:now\s+)?(?:have|has)\s+(?:now\s+)?{count}{not_done}{_NOUN}{_END}",
        ),
        ("have", rf"^(?:there\s+(?:is|are)\s+)?already\s+{count}{_NOUN}{_END}"),
        ("have", rf"^{count}(?!no\b){_NOUN}\s+(?:is\s+|are\s+)?already\s+in\s+{_BAG}{_END}"),
        ("have", rf"^{count}(?!no\b){_NOUN}\s+(?:is|are)\s+in\s+{_BAG}{_END}"),
        ("short", rf"^(?:there\s+(?:is|are)\s+)?(?:not\s+enough|insufficient)\s+{count}{_NOUN}{_END}"),
        ("short", rf"^{_WHO}{_NOT}\s+have\s+{count}{_NOUN}{_END}"),
        ("short", rf"^no\s+(?:more\s+)?{_NOUN}\s+(?:left\s+)?in\s+{_BAG}\b.*$"),
        (
            "need",
            rf"^{_WHO}(?:still\s+)?(?:need|needs|lack|lacks|missing)\s+(?:at\s+least\s+)?{count}{_NOUN}{_END}",
        ),
        (
            "absent",
            rf"^(?:there\s+(?:is|are|was|were)\s+)?no\s+{_NOUN}\s+(?:was\s+|were\s+)?"
            r"(?:found|nearby|around|here|in\s+(?:range|sight|view)|visible)\b.*$",
        ),
        ("absent", rf"^{_WHO}{_CANNOT}\s+(?:find|locate|see)\s+{count}{_NOUN}{_END}"),
        ("absent", rf"^{_NOUN}\s+(?:was\s+|were\s+)?not\s+found{_END}"),
        ("seen", rf"^{_WHO}(?:found|spotted|located)\s+{count}{_NOUN}{_END}"),
        ("seen", rf"^{count}(?!no\b){_NOUN}\s+found{_END}"),
        (
            "claim",
            rf"^(?:{_WHO}(?:have\s+|has\s+)?)?(?:successfully\s+|finally\s+)?(?P<verb>{past})(?:\s+up)?"
            rf"\s+{count}{_NOUN}{_END}",
        ),
        ("claim", rf"^{_WHO}(?:done|finished|completed)\s+(?P<verb>{gerund})\s+{count}{_NOUN}{_END}"),
        (
            "claim",
            rf"^{count}(?!no\b){_NOUN}\s+{_BE}(?:successfully\s+|already\s+)?(?P<verb>{past})"
            rf"(?:\s+successfully)?{_END}",
        ),
    ]
    return [(kind, re.compile(source)) for kind, source in sources]


def number(word: str | None) -> int | None:
    """The number that a count word says, of "3/5" the first; None for 'all', 'enough', 'the' and no word."""
    if word is None:
        return None
    digits = word.split("/")[0].strip()
    if digits.isdecimal():
        return int(digits)
    return 1 if word in ("a", "an") else _number_words().get(word)


def statements(text: str) -> list[Statement]:
    """The statements of a message, one per clause, in order. Case and final marks do not matter."""
    clauses = (clause.strip() for clause in _CLAUSES.split(text.strip().lower()) if clause)
    return [statement for statement in map(_statement, clauses) if statement is not None]


def _statement(clause: str) -> Statement | None:
    for kind, pattern in _patterns():
        match = pattern.match(clause)
        if match is None:
            continue
        groups = match.groupdict()
        phrase = _TAIL.sub("", groups["phrase"]).strip()
        if phrase:
            verb = _VERBS.get(groups.get("verb") or "", "")
            return Statement(kind, verb, phrase, number(groups.get("count")), bool(groups.get("more")))
    return None


def restates(text: str, task: str) -> bool:
    """Does a message say, in past form, what an unparsable task ordered ("Useless items deposited." for
    "Deposit useless items into the chest")? Every content word must stand in the task."""
    words = [word for word in re.findall(r"[a-z]{3,}", text.lower()) if word not in ("the", "all", "has")]
    ordered = re.findall(r"[a-z]{3,}", task.lower())
    verbs = [word for word in words if word in PAST_FORMS]
    return bool(
        verbs
        and ordered
        and any(_same_stem(word, ordered[0]) for word in verbs)
        and len(words) > len(verbs)
        and all(any(_same_stem(word, other) for other in ordered) for word in words)
    )


def _same_stem(left: str, right: str) -> bool:
    shared = min(len(left), len(right), 6)
    return left[:shared] == right[:shared] and abs(len(left) - len(right)) <= 3
