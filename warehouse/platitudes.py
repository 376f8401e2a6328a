"""Notes that say nothing: what can be said of any failure says nothing of this one."""

import re
from typing import Final

from warehouse.domains.model import Domain
from warehouse.grammar import known_names

_VERBS: Final = r"(?:try|trying|retry|attempt|do|repeat|start)"
_MANNERS: Final = (
    r"(?:careful(?:ly)?|cautious(?:ly)?|patient(?:ly)?|attentive|focused|alert|smart(?:er)?|better|efficient)"
)
_ANYTHING: Final = r"(?:it|this|something|things?|the\s+(?:action|attempt|task))"
_WHAT_ALL_HAVE: Final = (
    r"(?:the\s+|your\s+|all\s+)*(?:current\s+)?"
    r"(?:inventory|surroundings?|environment|state|situation|requirements?|resources?|conditions?|everything)"
)
_WHAT_IS_NEEDED: Final = (
    r"(?:(?:the|all|enough|more|your)\s+)*"
    r"(?:(?:right|correct|proper|appropriate|suitable|necessary|required|needed|missing|sufficient)\s+)*"
    r"(?:resources?|materials?|items?|tools?|supplies|equipment|prerequisites?|everything)"
)
_PATTERNS: Final = (
    rf"{_VERBS}\s+(?:\w+\s+){{0,3}}?(?:again|over|once\s+more|harder|differently)",
    r"(?:just\s+)?(?:keep|continue)\s+(?:on\s+)?(?:trying|going)",
    r"re-?try(?:\s+(?:it|the\s+(?:action|step|task|subgoal)))?",
    rf"(?:be|being|stay|act|proceed)\s+(?:\w+\s+){{0,2}}?{_MANNERS}",
    r"(?:more\s+)?careful(?:ly)?",
    r"(?:pay|paying)\s+(?:\w+\s+)?attention",
    r"(?:think|plan)\s+(?:\w+\s+)?(?:carefully|ahead|again|better|harder|first|step\s+by\s+step)",
    r"(?:don'?t|do\s+not|never)\s+(?:give\s+up|fail|make\s+mistakes|worry)",
    r"(?:do|work|perform)\s+(?:\w+\s+)?(?:better|best|well|harder)",
    r"(?:make|be)\s+sure(?:\s+(?:it|this|that\s+it|to)\s+(?:works?|succeeds?))?",
    r"avoid\s+(?:\w+\s+)?(?:mistakes?|errors?|failures?|failing|problems?)",
    r"(?:improve|adapt|adjust)\s+(?:the\s+|your\s+)?(?:strategy|approach|plan|performance|behaviou?r)",
    rf"{_ANYTHING}\s+(?:went\s+wrong|failed|may\s+fail|can\s+fail)",
    rf"(?:do|doing|get|getting)\s+{_ANYTHING}\s+(?:right|correctly|properly|well)",
    rf"(?:check|inspect|review|verify|consider|watch)\s+{_WHAT_ALL_HAVE}",
    rf"(?:gather|get|collect|bring|prepare|have|use|find)\s+{_WHAT_IS_NEEDED}",
    r"(?:be|get|come)\s+(?:\w+\s+)?prepared|prepare\s+(?:well|better|properly|first|ahead)",
    r"learn\s+from\s+(?:\w+\s+)?(?:mistakes?|failures?|errors?|experience|it|this)",
    r"(?:stay|keep|be)\s+(?:\w+\s+)?(?:on\s+(?:task|track)|calm|persistent|determined)",
)
_PLATITUDE: Final = re.compile(rf"\b(?:{'|'.join(_PATTERNS)})\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[a-z]{2,}")
_NAME: Final = re.compile(r"[a-z_]{3,}")
_FILLERS: Final = frozenset(
    re.findall(
        r"\w+",
        """
        again all an and another any as at attempt be because before but by can care do does doing done else
        for from if in is it its just later like may maybe more much next not now of on once or please same
        should simply so some something still task that the then there thing things this time to try until
        very way way well when will with work works you your
        """,
    )
)
_SOMETHING: Final = 2
"""Words of its own from which on a note beside a platitude is taken to say something."""


def is_platitude(note: str, domain: Domain) -> bool:
    """Whether a note says only what could be said of any failure.

    A name of the domain, or a few words beyond the usual fillers, make it say something. A note without a
    word says nothing; no note at all claims nothing, and passes.

    >>> from warehouse.domains import load_domain
    >>> is_platitude("Be more careful and try again.", load_domain("minecraft"))
    True
    """
    if not note:
        return False
    text = note.lower()
    if not _WORD.search(text):
        return True
    rest = _PLATITUDE.sub(" ", text)
    if rest == text or any(known_names(word, domain) for word in _NAME.findall(rest)):
        return False
    return len([word for word in _WORD.findall(rest) if word not in _FILLERS]) < _SOMETHING
