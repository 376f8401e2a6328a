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

StatementKind = Literal["claim", "have", "short", "absent", "seen"]

_LARGEST_NUMBER_WORD: Final = 64  # one full stack; larger numbers are written in digits

# Past form -> the verb as an order would give it.
PAST_FORMS: Final = {
    "mined": "mine", "dug": "dig", "chopped": "chop", "collected": "collect", "gathered": "gather",
    "harvested": "harvest", "obtained": "obtain", "acquired": "obtain", "got": "get", "picked": "collect",
    "crafted": "craft", "made": "craft", "built": "craft", "created": "craft", "smelted": "smelt",
    "cooked": "cook", "killed": "kill", "slain": "kill", "defeated": "kill", "hunted": "kill",
    "placed": "place", "deposited": "deposit", "planted": "place", "used": "use", "eaten": "eat",
    "traded": "trade", "equipped": "equip", "caught": "catch", "sheared": "shear",
}  # fmt: skip

_PAST = "|".join(PAST_FORMS)
_COUNT = r"(?P<count>\d+|a|an|the|one|all|enough|some|{words})"
_TAIL = re.compile(
    r"\s+(?:in|from|into|to|with|within|on|at|for|near|nearby|around|using|by|of them|so far|again"
    r"|successfully|now|already|yet)\b.*$"
)
_LEAD = r"^(?:(?:i|we|bot)(?:'ve|\s+have|\s+has)?\s+)?(?:successfully\s+|finally\s+)?"


@dataclass(frozen=True)
class Statement:
    """`kind` of statement, its verb (imperative, '' where none), its noun phrase and its count if given."""

    kind: StatementKind
    verb: str
    phrase: str
    count: int | None


@cache
def _number_words() -> dict[str, int]:
    return {str(inflector().number_to_words(n)): n for n in range(1, _LARGEST_NUMBER_WORD + 1)}  # type: ignore[arg-type]


@cache
def _patterns() -> list[tuple[StatementKind, re.Pattern[str]]]:
    words = "|".join(sorted(_number_words(), key=len, reverse=True))
    count = rf"(?:all\s+(?=\d))?(?:{_COUNT.format(words=words)}\s+)?(?:more\s+)?"
    noun = r"(?P<phrase>[a-z][a-z _'-]*?)"
    end = r"\s*(?:[.!,;].*)?$"
    sources: list[tuple[StatementKind, str]] = [
        ("have", rf"^(?:(?:i|we|bot)\s+)?(?:already\s+(?:have|has|got)|have\s+already)\s+{count}{noun}{end}"),
        (
            "have",
            rf"^(?:i|we|bot)\s+(?:now\s+)?(?:have|has)\s+(?:now\s+)?{count}(?!(?:successfully\s+)?(?:{_PAST})\b){noun}{end}",
        ),
        ("have", rf"^(?:there\s+(?:is|are)\s+)?already\s+{count}{noun}{end}"),
        ("short", rf"^(?:there\s+(?:is|are)\s+)?not\s+enough\s+{count}{noun}{end}"),
        (
            "short",
            rf"^(?:i|we|bot)?\s*(?:do\s*n[o']?t|don't|does\s+not|doesn't|did\s+not)\s+have\s+(?:any\s+|enough\s+)?"
            rf"{count}{noun}{end}",
        ),
        ("short", rf"^(?:i|we|bot)?\s*(?:still\s+)?(?:need|needs|lack|lacks|missing)\s+{count}{noun}{end}"),
        ("short", rf"^insufficient\s+{count}{noun}{end}"),
        ("short", rf"^no\s+(?:more\s+)?{noun}\s+(?:in|left\s+in)\s+(?:the\s+|my\s+|bot's\s+)?inventory\b.*$"),
        (
            "absent",
            rf"^no\s+{noun}\s+(?:was\s+|were\s+)?(?:found|nearby|around|here|in\s+range|visible)\b.*$",
        ),
        (
            "absent",
            rf"^(?:i\s+|we\s+|bot\s+)?(?:could\s*n[o']t|couldn't|can\s*not|can't|failed\s+to|unable\s+to|did\s+not)"
            rf"\s+(?:find|locate|see)\s+(?:a\s+|an\s+|any\s+|the\s+)?{noun}{end}",
        ),
        ("absent", rf"^{noun}\s+(?:was\s+|were\s+)?not\s+found{end}"),
        ("seen", rf"^(?:i\s+)?(?:found|spotted|located)\s+{count}{noun}{end}"),
        ("seen", rf"^{count}{noun}\s+found{end}"),
        ("claim", rf"{_LEAD}(?P<verb>{_PAST})(?:\s+up)?\s+{count}{noun}{end}"),
        (
            "claim",
            rf"^{count}{noun}\s+(?:has\s+been\s+|have\s+been\s+|is\s+|are\s+|was\s+|were\s+)?"
            rf"(?:successfully\s+)?(?P<verb>{_PAST})(?:\s+successfully)?{end}",
        ),
    ]
    return [(kind, re.compile(source)) for kind, source in sources]


def number(word: str | None) -> int | None:
    """The number that a count word says; None for 'all', 'enough', 'the' and for no word."""
    if word is None:
        return None
    if word.isdigit():
        return int(word)
    return 1 if word in ("a", "an") else _number_words().get(word)


def statements(text: str) -> list[Statement]:
    """The statements of a message, one per clause, in order. Case and final marks do not matter."""
    found = []
    for clause in re.split(r"(?<=[.!])\s+|\s+and\s+|\s+but\s+|\s*;\s*", text.strip().lower()):
        statement = _statement(clause.strip())
        if statement is not None:
            found.append(statement)
    return found


def _statement(clause: str) -> Statement | None:
    for kind, pattern in _patterns():
        match = pattern.match(clause)
        if match is None:
            continue
        groups = match.groupdict()
        phrase = _TAIL.sub("", groups["phrase"]).strip()
        if phrase:
            verb = PAST_FORMS.get(groups.get("verb") or "", "")
            return Statement(kind, verb, phrase, number(groups.get("count")))
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
