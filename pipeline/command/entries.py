"""What `mineevolve knowledge` prints."""

from pathlib import Path

from rich.markup import escape
from rich.tree import Tree

from pipeline.command.ask import query
from pipeline.command.console import MISUSED, brief, fail, out, show
from pipeline.settings import Settings
from warehouse.entries import Entry


def listed(type_: str | None, status: str) -> None:
    """Prints the entries of a type and status."""
    home = Settings().home
    frame = query(
        home,
        "SELECT left(entry_id, 12) AS entry, type, kind, target, failure_type, "
        "support_episodes AS episodes, confidence, status "
        "FROM knowledge WHERE ($1 IS NULL OR type = $1) AND ($2 = 'all' OR status = $2) "
        "ORDER BY type, kind, target, failure_type, entry_id",
        [type_, status],
    )
    show(frame, f"{frame.height} entries")


def shown(prefix: str) -> None:
    """Prints one entry as a planner would read it, with its evidence."""
    from prompts.rendering import render_entry

    home = Settings().home
    entry = _entry(home, prefix)
    out.print(f"[bold]{entry.type} {entry.entry_id}[/]  ({entry.status}, version {entry.version})")
    out.print(
        f"confidence {entry.confidence:.3f} · {entry.support_episodes} independent episodes · "
        f"{entry.wins} wins in {entry.uses} uses · first seen in build {entry.first_build}"
    )
    out.print()
    out.print(escape(render_entry(entry)))
    evidence = query(
        home,
        "SELECT file, attempt, start_tick, end_tick, failure_type, evidence_tick, evidence_text "
        "FROM knowledge_lineage WHERE entry_id = $1 ORDER BY file, attempt",
        [entry.entry_id],
    )
    show(evidence.unique(maintain_order=True), "Evidence")


def explained_entry(prefix: str) -> None:
    """Prints the way from an entry to the ticks of the recordings."""
    home = Settings().home
    entry = _entry(home, prefix)
    rows = query(home, "SELECT * FROM knowledge_lineage WHERE entry_id = $1", [entry.entry_id])
    tree = Tree(f"[bold]{entry.type} {entry.entry_id}[/] {entry.status}, confidence {entry.confidence:.3f}")
    for (decision, candidate), of_candidate in rows.group_by(
        ["decision_id", "candidate_id"], maintain_order=True
    ):
        first = of_candidate.row(0, named=True)
        node = tree.add(f"accepted by decision {brief(decision)} in build {brief(first['decided_in'])}").add(
            f"candidate {brief(candidate)} proposed by {brief(first['engine'])}"
        )
        for row in of_candidate.iter_rows(named=True):
            leaf = node.add(f"feedback {row['feedback_id']}  {brief(row['failure_type'])}")
            ticks = f"ticks {row['start_tick']}–{row['end_tick']}"
            leaf.add(f"episode {row['episode_id']} attempt {row['attempt']}, {ticks}")
            leaf.add(f"{escape(brief(row['source']))}: {escape(brief(row['file']))}")
            if row["evidence_text"] is not None:
                said = brief(row["evidence_text"])
                leaf.add(
                    f"tick {brief(row['evidence_tick'])}, event {brief(row['evidence_seq'])}: {escape(said)}"
                )
    out.print(tree)
    rejected = query(
        home,
        "SELECT build, candidate_id, reasons FROM decisions WHERE entry_id = $1 AND verdict = 'rejected'",
        [entry.entry_id],
    )
    if rejected.height:
        show(rejected, "Proposals of the same entry that were rejected")


def _entry(home: Path, prefix: str) -> Entry:
    found = query(
        home, "SELECT record FROM knowledge WHERE starts_with(entry_id, $1) ORDER BY entry_id", [prefix]
    )
    if found.height != 1:
        what = "no entry" if found.is_empty() else f"{found.height} entries"
        raise fail(f"{what} with an id that begins with {prefix!r}: see `mineevolve knowledge list`", MISUSED)
    return Entry.model_validate_json(found["record"][0])
