"""Which attempts of a segment lead to its end, as far as what was seen of them tells.

Successes follow each other for many reasons: a plan gathers for one thing, is repaired, and goes on to
another. What came before and brought nothing towards the end is no part of the way there.
"""

from warehouse.domains.model import Domain
from warehouse.facts import FeedbackFact, Segment


def leading_up(segment: Segment, domain: Domain) -> Segment:
    """The segment from the first attempt on that serves its end.

    An attempt serves where one that serves comes after it and uses up, or is about, something that it
    brought; where it brought what serves without being used up (a tool, a station); where it went somewhere
    or put something down; and where its change is unknown. Idle attempts between those that serve stay: a
    segment has no gaps.
    """
    *before, end = segment.members
    serving, first = [end], len(before)
    for place in reversed(range(len(before))):
        if _serves(before[place], serving, domain):
            serving.append(before[place])
            first = place
    return Segment(segment.members[first:])


def _serves(fact: FeedbackFact, later: list[FeedbackFact], domain: Domain) -> bool:
    if fact.delta_inventory is None or not domain.accepts(fact.target or "", fact.kind or ""):
        return True
    brought = {item for item, change in fact.delta_inventory.items() if change > 0}
    if brought & (domain.tools.keys() | domain.stations):
        return True
    return any(
        each.delta_inventory is None
        or each.target in brought
        or any(each.delta_inventory.get(item, 0) < 0 for item in brought)
        for each in later
    )
