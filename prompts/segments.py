"""What the Inducer shows a model of segments: successes at several subgoals in a row, told as one record.

The functions are those of prompts/situations.py for segments of more than one attempt (warehouse/facts.py).
"""

from collections.abc import Sequence

from prompts.situations import Cited, SkillSituation, cite, net_change, skill_situation
from warehouse.domains import Domain
from warehouse.facts import FeedbackFact, Segment
from warehouse.knowledge import Record, Step


class Member(Record):
    """One attempt of a segment: its subgoal, how many were asked for, what it changed."""

    feedback_id: str
    attempt: int
    kind: str
    target: str | None
    needed: int
    change: dict[str, int] | None


class CitedSegment(Cited):
    """A segment under one label, as if it were one attempt: `state` is before the first attempt, `change` and
    `steps` are of all, `feedback_id` and `attempt` of the last."""

    members: tuple[Member, ...]
    drawn: dict[str, int] | None
    """item -> how many of those held before it the segment uses up; null where it is unknown"""

    @property
    def feedback_ids(self) -> tuple[str, ...]:
        """Of all its members: a segment is cited as a whole."""
        return tuple(member.feedback_id for member in self.members)

    @property
    def used(self) -> dict[str, int] | None:
        """As `drawn`; what one member made and another used up is no use of what was held."""
        return self.drawn


class SegmentSituation(SkillSituation):
    """One way of reaching one thing over several subgoals: the same ones in the same order."""

    subgoals: tuple[Step, ...]
    """each with the smallest number that was asked for"""
    cited: tuple[CitedSegment, ...]


def cite_segments(chosen: Sequence[Segment], domain: Domain) -> tuple[CitedSegment, ...]:
    """The segments under labels f1, f2, … in the order given."""
    rows = cite([segment.joined for segment in chosen], domain)
    return tuple(
        CitedSegment(
            **dict(row),
            members=tuple(_member(member) for member in segment.members),
            drawn=None if segment.drawn is None else dict(segment.drawn),
        )
        for row, segment in zip(rows, chosen, strict=True)
    )


def segment_situation(
    group: Sequence[Segment], cited: tuple[CitedSegment, ...], domain: Domain
) -> SegmentSituation:
    """The situation that all segments of `group` share; `cited` are those that a model gets to see."""
    shared = skill_situation([segment.joined for segment in group], cited, domain)
    subgoals = tuple(
        Step(kind=same[0].kind or "", target=same[0].target, count=min(member.needed or 1 for member in same))
        for same in zip(*(segment.members for segment in group), strict=True)
    )
    return SegmentSituation(**dict(shared), subgoals=subgoals)


def _member(fact: FeedbackFact) -> Member:
    return Member(
        feedback_id=fact.feedback_id,
        attempt=fact.attempt,
        kind=fact.kind or "",
        target=fact.target,
        needed=fact.needed or 1,
        change=net_change(fact),
    )
