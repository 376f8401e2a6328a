"""How a pass of Curator rules on the entries of its store: who is retired or demoted and for what, and what
is said of it in the log."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from warehouse.entries import SERVED, Entry, Reason, Status, Turn


@dataclass
class Ruling:
    """How the entries of a pool stand to each other: who lost, to whom, and who merely disagrees."""

    lost_to: dict[str, list[str]] = field(default_factory=dict)
    disagrees: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    out: dict[str, tuple[Reason, ...]] = field(default_factory=dict)
    """retired for another reason than a conflict, and why"""
    demoted: dict[str, tuple[Reason, ...]] = field(default_factory=dict)

    def status_of(self, entry_id: str) -> Status:
        """What becomes of an entry that is not merged."""
        if entry_id in self.lost_to or entry_id in self.out:
            return "retired"
        return "demoted" if entry_id in self.demoted else "active"

    def reasons_of(self, entry_id: str) -> tuple[Reason, ...]:
        """Why an entry is retired or demoted."""
        if entry_id in self.lost_to:
            return loss(self.lost_to[entry_id])
        return self.out.get(entry_id, ()) or self.demoted.get(entry_id, ())


def turn(before: Entry | None, after: Entry) -> Turn | None:
    """What a pass did to an entry of the store, or to one that it made by a merge; None for nothing that
    needs a word. What became of a candidate is said of the candidate."""
    was = before.status if before is not None else "active" if after.merged_from else None
    if was is None or was == after.status:
        return None
    if after.status == "demoted":
        return "demoted"
    if after.status == "retired":
        return "rejected" if was in SERVED else None
    return "restored" if after.status == "active" and was in ("demoted", "retired") else None


def loss(lost_to: Iterable[str]) -> tuple[Reason, ...]:
    """Why an entry stands back behind those that it lost to."""
    return tuple(
        Reason(rule="conflict", detail=f"contradicts {one}, which is of high confidence") for one in lost_to
    )


def worn_out(entry: Entry) -> tuple[Reason, ...]:
    """Why an entry of too little confidence is retired."""
    detail = f"lost {entry.uses - entry.wins} of {entry.uses} episodes of use"
    return (Reason(rule="unsupported", detail=detail),)


def precedence(entry: Entry) -> tuple[float, int, str, str]:
    """Sorts entries by who is believed first: the more confident; of equals the one with more independent
    episodes, then the older."""
    return (-entry.confidence, -entry.support_episodes, entry.first_build, entry.entry_id)
