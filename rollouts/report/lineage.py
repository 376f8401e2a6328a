"""From an entry back to the ticks that it rests on, as `mineevolve knowledge explain` prints it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from prompts.rendering import render_entry
from warehouse.analysis import query
from warehouse.entries import Entry

EVIDENCE_SHOWN: Final = 10
"""feedback rows of one entry that a page shows; the command shows all"""
_EVIDENCE: Final = """
SELECT DISTINCT entry_id, feedback_id, episode_id, attempt, build, source, file, start_tick, end_tick,
    failure_type, evidence_tick, evidence_text
FROM knowledge_lineage WHERE list_contains($1, entry_id)
ORDER BY entry_id, episode_id, attempt, feedback_id
"""
_DECISIONS: Final = """
SELECT DISTINCT entry_id, decided_in, decision_id, candidate_id, engine
FROM knowledge_lineage WHERE list_contains($1, entry_id) AND decision_id IS NOT NULL
ORDER BY entry_id, decided_in, decision_id
"""
_NOW: Final = (
    "SELECT entry_id, status, version FROM knowledge WHERE list_contains($1, entry_id) ORDER BY entry_id"
)


@dataclass(frozen=True)
class Lineage:
    """An entry as it was frozen, its text as a planner reads it, what let it in and what it rests on.

    `status` and `version` are those of the store now, None where it no longer has the entry. `decisions`:
    (decided_in, decision_id, candidate_id, engine). `evidence`: feedback with its episode, attempt and ticks,
    the first `EVIDENCE_SHOWN` of `evidence_rows`.
    """

    entry: Entry
    text: str
    status: str | None
    version: int | None
    decisions: pl.DataFrame
    evidence: pl.DataFrame
    evidence_rows: int

    @property
    def command(self) -> str:
        """What shows all of it."""
        return f"mineevolve knowledge explain {self.entry.entry_id}"


def lineages(home: Path, entries: Mapping[str, Entry], shown: Iterable[str]) -> list[Lineage]:
    """The lineage of the shown entries, in their order. `NotPublishedError` where no warehouse is
    published."""
    ids = [entry_id for entry_id in shown if entry_id in entries]
    evidence, decisions, now = (query(home, sql, [ids]) for sql in (_EVIDENCE, _DECISIONS, _NOW))
    standing = {entry_id: (status, version) for entry_id, status, version in now.iter_rows()}
    found = []
    for entry_id in ids:
        status, version = standing.get(entry_id, (None, None))
        own = evidence.filter(pl.col("entry_id") == entry_id)
        found.append(
            Lineage(
                entry=entries[entry_id],
                text=render_entry(entries[entry_id]),
                status=status,
                version=version,
                decisions=decisions.filter(pl.col("entry_id") == entry_id).drop("entry_id"),
                evidence=own.drop("entry_id").head(EVIDENCE_SHOWN),
                evidence_rows=own.height,
            )
        )
    return found
