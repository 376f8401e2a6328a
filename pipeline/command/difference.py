"""`mineevolve snapshot diff`."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

import polars as pl
import typer

from pipeline.command.ask import query
from pipeline.command.console import brief, explained, show
from pipeline.command.named import named_snapshot
from pipeline.settings import Settings
from warehouse.analysis import ANALYSIS
from warehouse.entries import Entry
from warehouse.shards import DamagedShardError
from warehouse.snapshots import Snapshot, diff

# What was decided between two snapshots, by entry and verdict. A snapshot has its place after a build, or
# after the rollback that set the build back; where several builds hand on the same one, the nearest places of
# the two count, unless a build was named. One that no build hands on has no place, and nothing is said.
_WHY: Final = """
WITH places AS (
    SELECT build, false AS set_back, coalesce(instead_of, snapshot_id) AS snapshot_id FROM builds
    UNION ALL
    SELECT build, true, snapshot_id FROM builds
),
span AS (
    SELECT (a.build, a.set_back) AS after, (b.build, b.set_back) AS until
    FROM places AS a JOIN places AS b ON (a.build, a.set_back) < (b.build, b.set_back)
    WHERE a.snapshot_id = $1 AND (a.build = $2 OR $2 NOT IN (SELECT build FROM builds))
        AND b.snapshot_id = $3 AND (b.build = $4 OR $4 NOT IN (SELECT build FROM builds))
    ORDER BY until, after DESC
    LIMIT 1
),
said AS (
    SELECT entry_id, verdict, build, reasons[1].rule AS rule, reasons[1].detail AS detail
    FROM decisions
    WHERE candidate_id = entry_id AND verdict IN ('rejected', 'demoted', 'restored')
)
SELECT entry_id, verdict, arg_max(rule, build) AS rule, arg_max(detail, build) AS why
FROM said JOIN span ON (build, rule = 'rollback') > after AND (build, rule = 'rollback') <= until
GROUP BY entry_id, verdict
"""
_VERDICTS: Final = {"removed": "rejected", "demoted": "demoted", "restored": "restored", "added": "restored"}
"""change -> the verdict that tells why; what is added may have been in the store before"""


def compared(old: str, new: str, *, as_json: bool) -> None:
    """Prints what differs between two snapshots, with the evidence that made the difference."""
    home = Settings().home
    with explained(DamagedShardError):
        before, after = named_snapshot(home, old), named_snapshot(home, new)
    rows = differences(home, (old, before), (new, after))
    if as_json:
        told = {"old": before.snapshot_id, "new": after.snapshot_id, "entries": rows}
        typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    counted = Counter(row["change"] for row in rows)
    said = ", ".join(f"{number} {change}" for change, number in sorted(counted.items()))
    columns = ("change", "entry", "what", "episodes", "won", "confidence", "why")
    lines = [dict(zip(columns, _line(row), strict=True)) for row in rows]
    frame = pl.DataFrame(lines, schema=dict.fromkeys(columns, pl.String))
    if not any(row["why"] for row in rows):
        frame = frame.drop("why")
    show(frame, f"{before.snapshot_id[:12]} -> {after.snapshot_id[:12]}: {said or 'nothing differs'}")


def differences(home: Path, old: tuple[str, Snapshot], new: tuple[str, Snapshot]) -> list[dict[str, Any]]:
    """A row for each entry that differs between two snapshots, each with the name that was given for it: the
    change, the status and the figures of both sides, the feedback that came and went, and why.

    The change is added, changed, merged, demoted, restored, retired or withdrawn; removed where the warehouse
    does not say why. What was decided before the old snapshot or after the new one is no reason.
    """
    (_, before), (_, after) = old, new
    was, now = ({entry.entry_id: entry for entry in side.entries} for side in (before, after))
    decided = _decided(home, old, new)
    rows = []
    for row in diff(before, after).iter_rows(named=True):
        entry_id, change = row["entry_id"], row["change"]
        rule, why = decided.get((entry_id, _VERDICTS.get(change)), (None, None))
        if rule is not None and change == "removed":
            row["change"] = "withdrawn" if rule == "rollback" else "retired"
        elif rule is not None:
            row["change"] = _VERDICTS[change]
        had, has = _evidence(was.get(entry_id)), _evidence(now.get(entry_id))
        rows.append(
            row | {"evidence_added": sorted(has - had), "evidence_gone": sorted(had - has), "why": why}
        )
    return sorted(rows, key=lambda row: (row["change"], row["type"], row["entry_id"]))


def _decided(
    home: Path, old: tuple[str, Snapshot], new: tuple[str, Snapshot]
) -> dict[tuple[str, str | None], tuple[str, str]]:
    """(entry, verdict) -> the last rule behind it between the two, and its words; empty where nothing is
    published yet."""
    if not (home / ANALYSIS).exists():
        return {}
    sides = [value for name, snapshot in (old, new) for value in (snapshot.snapshot_id, name)]
    return {
        (entry, verdict): (rule, why) for entry, verdict, rule, why in query(home, _WHY, sides).iter_rows()
    }


def _evidence(entry: Entry | None) -> set[str]:
    return set() if entry is None else {one.feedback_id for one in entry.support}


def _line(row: dict[str, Any]) -> tuple[str | None, ...]:
    action = " ".join(row[name] for name in ("kind", "target") if row[name])
    what = action if row["failure_type"] is None else f"{row['failure_type']} at {action or 'any'}"
    won = [
        None if row[f"uses_{side}"] is None else f"{row[f'wins_{side}']} of {row[f'uses_{side}']}"
        for side in ("before", "after")
    ]
    return (
        row["change"],
        row["entry_id"][:8],
        f"{row['type']}: {what}",
        _both(row["support_episodes_before"], row["support_episodes_after"]),
        _both(*won),
        _both(row["confidence_before"], row["confidence_after"]),
        row["why"],
    )


def _both(before: Any, after: Any) -> str:
    """Both sides where they differ, else the one that there is."""
    shown = [brief(side) for side in (before, after) if side is not None]
    return shown[0] if len(set(shown)) == 1 else " -> ".join(shown)
