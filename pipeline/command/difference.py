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

_GONE: Final = "removed"
_WHY: Final = """
    SELECT entry_id, last(rule ORDER BY build) AS rule, last(detail ORDER BY build) AS why
    FROM (
        SELECT entry_id, build, reasons[1].rule AS rule, reasons[1].detail AS detail
        FROM decisions
        WHERE candidate_id = entry_id AND verdict = 'rejected'
    )
    GROUP BY entry_id
"""


def compared(old: str, new: str, *, as_json: bool) -> None:
    """Prints what differs between two snapshots, with the evidence that made the difference."""
    home = Settings().home
    with explained(DamagedShardError):
        before, after = named_snapshot(home, old), named_snapshot(home, new)
    rows = differences(home, before, after)
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


def differences(home: Path, before: Snapshot, after: Snapshot) -> list[dict[str, Any]]:
    """A row for each entry that differs: the change, the figures of both sides, the feedback that came and
    went, and why. The change is added, changed, merged, retired or withdrawn; removed where the warehouse
    does not say why."""
    was, now = ({entry.entry_id: entry for entry in side.entries} for side in (before, after))
    gone = _why_gone(home)
    rows = []
    for row in diff(before, after).iter_rows(named=True):
        entry_id = row["entry_id"]
        rule, why = gone.get(entry_id, (None, None)) if row["change"] == _GONE else (None, None)
        if rule is not None:
            row["change"] = "withdrawn" if rule == "rollback" else "retired"
        old, new = _evidence(was.get(entry_id)), _evidence(now.get(entry_id))
        rows.append(
            row | {"evidence_added": sorted(new - old), "evidence_gone": sorted(old - new), "why": why}
        )
    return sorted(rows, key=lambda row: (row["change"], row["type"], row["entry_id"]))


def _why_gone(home: Path) -> dict[str, tuple[str, str]]:
    """Entry -> the rule that took it out of use, and its words; empty where nothing is published yet."""
    if not (home / ANALYSIS).exists():
        return {}
    return {entry_id: (rule, why) for entry_id, rule, why in query(home, _WHY).iter_rows()}


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
