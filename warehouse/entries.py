"""The state of the knowledge store: entries with their evidence, and the decisions that made them.

An entry's id is its content (warehouse/knowledge.py); support, outcomes, confidence, status and version are
state beside it, and are what a snapshot freezes.
"""

from collections.abc import Iterable
from typing import Final, Literal

from pydantic import Field

from warehouse.knowledge import Check, KnowledgeType, Name, Predicate, Record, RemedyContent, SkillContent
from warehouse.places import Place

Verdict = Literal["accepted", "rejected"]
Turn = Literal["accepted", "rejected", "demoted", "restored"]
"""What a decision says: of a candidate the first two; of an entry of the store that it is retired (rejected),
moved down, or served again as before."""
Status = Literal["active", "demoted", "merged", "retired", "withdrawn"]
SERVED: Final[tuple[Status, ...]] = ("active", "demoted")
"""What a snapshot holds and retrieval finds."""
Rule = Literal[
    "schema",  # V_schema: required fields are there and well-formed
    "match",  # V_match: every predicate names a declared field, with a value it can have
    "exec",  # V_exec: every step is in the executor's grammar, in an order that can be carried out
    "specific",  # V_spec: not a platitude, and not a trigger that holds everywhere
    "evidence",  # V_evidence: the cited feedback exists, belongs to the situation, shows what is claimed
    "backtest",  # its conditions held before recorded attempts, and what it says of them rarely came
    "review",  # a reviewer refused what had passed the checks
    "tryout",  # played out in its own situations, it did harm or never led to what it is for
    "repeats_action",  # the repair only does again what failed
    "conflict",  # C_conflict: contradicts knowledge of high confidence
    "unsupported",  # nothing, or too few independent episodes, stand behind it
    "transient",  # a failure of circumstance that one world alone has shown
    "fading",  # it has stopped helping, or never did, by its late outcomes of use
    "expired",  # nothing confirmed it for many builds that had the occasion
    "capacity",  # the domain's store is full, and this is worth least
    "restored",  # what had moved it down, or out, holds no more
    "rollback",  # its build was set back to a snapshot that does not hold it (warehouse/rollback.py)
]


class Reason(Record):
    """Why a candidate was rejected: the rule, and what in the candidate broke it."""

    rule: Rule
    detail: str


class Support(Record):
    """One piece of evidence: a feedback row, the episode that it belongs to, and where its attempt began."""

    feedback_id: str
    episode_id: str
    place: Place | None = None


def in_order(support: Iterable[Support]) -> tuple[Support, ...]:
    """Evidence in the order in which an entry holds it."""
    return tuple(sorted(support, key=lambda each: (each.feedback_id, each.episode_id)))


class Usage(Record):
    """An outcome of using an entry once in an attempt; `won` null when the attempt is undecided. `build` is
    that of the episode, as the log knows it."""

    entry_id: str
    feedback_id: str
    episode_id: str
    won: bool | None
    build: str | None = None


class Review(Record):
    """What a reviewer said of a candidate that had passed the checks: a second opinion that can refuse it and
    never let in what the checks refused. `request_id`, `model` and `template` lead to the answer."""

    candidate_id: Name
    entry_id: Name
    verdict: Verdict
    reason: str
    request_id: str
    model: str
    template: str


class TryOut(Record):
    """An entry tried out from a situation in a training world, in the arm with it or in the one without.

    `situation` is the id of what it started from, which `episode_id` came to; `success` is null when it is
    undecided, or when the situation did not come about in this world. `lead` are the game ticks that led to
    the situation, which both arms share, `ticks` those of the arm.
    """

    entry_id: Name
    situation: Name
    episode_id: Name
    world_seed: int
    arm: Literal["with", "without"]
    success: bool | None
    lead: int = Field(ge=0)
    ticks: int = Field(ge=0)


class Entry(Record):
    """A knowledge entry as the store holds it.

    `confidence` is the posterior mean of warehouse/confidence.py; `version` counts the changes of this state,
    from 1. `last_build` is the last that brought evidence for it.
    """

    entry_id: Name
    domain: Name
    type: KnowledgeType
    trigger: tuple[Predicate, ...]
    content: SkillContent | RemedyContent
    verification: tuple[Check, ...] = ()
    support: tuple[Support, ...] = ()
    uses: int = Field(default=0, ge=0)
    wins: int = Field(default=0, ge=0)
    confidence: float = Field(ge=0, le=1)
    status: Status = "active"
    merged_from: tuple[str, ...] = ()
    merged_into: str | None = None
    first_build: Name
    last_build: Name
    version: int = Field(default=1, ge=1)

    @property
    def support_episodes(self) -> int:
        """Independent episodes behind this entry: repeats inside one episode count once."""
        return len({support.episode_id for support in self.support})

    @property
    def places(self) -> tuple[Place, ...]:
        """Where this entry was learnt: the different places of its evidence, as far as they are known."""
        return tuple(dict.fromkeys(each.place for each in self.support if each.place is not None))


class Decision(Record):
    """What Curator did with one candidate, or with an entry of the store, whose id then stands as
    `candidate_id`; the log of these is append-only."""

    decision_id: Name
    build: Name
    candidate_id: Name
    entry_id: Name
    verdict: Turn
    reasons: tuple[Reason, ...] = ()
    merged_into: str | None = None
    conflict_with: tuple[str, ...] = ()
