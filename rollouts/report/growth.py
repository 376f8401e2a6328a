"""How the store grew from build to build, as the published warehouse has it."""

from pathlib import Path
from typing import Final

import polars as pl

from prompts.tokens import EntryCost, TokenCounter
from warehouse.analysis import query
from warehouse.snapshots import load_snapshot

_REASONS: Final = """
SELECT d.build, one.reason.rule AS rule, count(DISTINCT d.decision_id) AS candidates
FROM decisions AS d, unnest(d.reasons) AS one (reason)
WHERE d.verdict = 'rejected' AND d.candidate_id <> d.entry_id
GROUP BY ALL ORDER BY ALL
"""


def growth(home: Path, counter: TokenCounter) -> pl.DataFrame:
    """The view `knowledge_growth`, with `skills`, `remedies` and `tokens` of each build's snapshot: the
    tokens of all its entries' blocks together (unknown, null, where the snapshot is gone)."""
    cost = EntryCost(counter)
    grown = query(home, "FROM knowledge_growth")
    rows = []
    for snapshot_id in grown["snapshot_id"]:
        folder = home / "snapshots" / snapshot_id
        entries = load_snapshot(folder).entries if folder.exists() else None
        rows.append(
            {
                "skills": None if entries is None else sum(entry.type == "skill" for entry in entries),
                "remedies": None if entries is None else sum(entry.type == "remedy" for entry in entries),
                "tokens": None if entries is None else sum(cost(entry) for entry in entries),
            }
        )
    counts = pl.DataFrame(rows, schema=dict.fromkeys(("skills", "remedies", "tokens"), pl.Int64))
    return grown.hstack(counts)


def rejections(home: Path) -> pl.DataFrame:
    """(build, rule, candidates): how many candidates broke which rule of Curator; one may break several."""
    return query(home, _REASONS)
