"""A candidate as the entry that it would be, if nothing else spoke for it: to show what is undecided yet."""

from collections.abc import Iterable

from warehouse.confidence import confidence
from warehouse.entries import Entry, Support
from warehouse.knowledge import Candidate


def as_entry(candidate: Candidate, support: Iterable[Support]) -> Entry:
    """The entry that `candidate` proposes, resting on `support` (whatever its order), never used."""
    behind = tuple(sorted(set(support), key=lambda each: each.feedback_id))
    return Entry(
        entry_id=candidate.entry_id,
        domain=candidate.domain,
        type=candidate.type,
        trigger=candidate.trigger,
        content=candidate.content,
        verification=candidate.verification,
        support=behind,
        confidence=confidence(len({each.episode_id for each in behind}), wins=0, losses=0),
        first_build=candidate.build,
        last_build=candidate.build,
    )
