"""The pass of Curator before a review or a try-out: which candidates of a build would come into the store as
it stands.

A reviewer is asked of these and of no others, and so is the world. What the checks refuse needs no second
opinion, and neither does more evidence for an entry that there is already: it was looked at when it came.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from warehouse.build_evidence import Evidence, evidence_by_build
from warehouse.database import LOCK_WAIT_S, fetch, statement, writer
from warehouse.entries import Entry, Review
from warehouse.fold import CurateBuild
from warehouse.knowledge import Candidate
from warehouse.rollback import shown_to_curator


class Undecided(NamedTuple):
    """A build before its curation: what that will read, and the store (by entry id) that it starts from."""

    evidence: Evidence
    store: Mapping[str, Entry]


def undecided(home: Path, build: str, wait_s: float = LOCK_WAIT_S) -> Undecided:
    """What `fold_build` would start from. The warehouse is held for as long as the store takes to read.

    Raises as `fold_build` does.
    """
    with writer(home, wait_s) as con:
        folded = fetch(con, "SELECT build FROM builds WHERE build < $1 ORDER BY build", [build])["build"]
        records = fetch(con, statement("fold/store_before"), [build])["record"]
    (evidence,) = evidence_by_build(home, [*folded, build], build)
    entries = (Entry.model_validate_json(record) for record in records)
    return Undecided(evidence, shown_to_curator(entries))


def newcomers(build: Undecided, curate: CurateBuild, reviews: Iterable[Review]) -> tuple[Candidate, ...]:
    """The candidates that Curator accepts under these reviews alone, whatever try-outs say, and whose entry
    the store does not have in any state, by candidate id."""
    pass_ = curate(replace(build.evidence, reviews=tuple(reviews), tryouts=()), build.store)
    accepted = {one.candidate_id for one in pass_.decisions if one.verdict == "accepted"}
    new = [
        candidate
        for candidate in build.evidence.candidates
        if candidate.candidate_id in accepted and candidate.entry_id not in build.store
    ]
    return tuple(sorted(new, key=lambda each: each.candidate_id))
