"""`mineevolve knowledge explain`: on the terminal, or as a page."""

from pathlib import Path
from typing import Final

import polars as pl
from rich.markup import escape
from rich.tree import Tree

from pipeline.command.ask import query
from pipeline.command.console import brief, explained, fail, out, show
from pipeline.command.entries import entry_of
from pipeline.settings import Settings
from warehouse.entries import Entry

ROWS: Final = 12
"""rows of one table on the terminal; the page and the warehouse have more"""
_SHORT: Final = 8


def explained_entry(prefix: str, html: Path | None) -> None:
    """Prints all that is known of an entry, or writes it as a page."""
    from rollouts.report.entry_page import write_entry_page
    from rollouts.report.explanation import explanation

    home = Settings().home
    entry = entry_of(home, prefix)
    found = explanation(home, entry)
    if html is not None:
        if html.is_dir():
            raise fail(f"{html} is a folder: name a file, such as {html / 'entry.html'}")
        with explained(OSError):
            write_entry_page(found, html)
        out.print(f"{entry.type} {entry.entry_id} is explained in {html}", markup=False, soft_wrap=True)
        return
    out.print(_lineage(home, entry))
    low, high = found.credible
    out.print(
        f"\nconfidence {entry.confidence:.3f} (90 % credible: {low:.2f} to {high:.2f}) · "
        f"{entry.support_episodes} independent episodes · {entry.wins} wins in {entry.uses} uses"
    )
    out.print(f"holds where {' and '.join(map(escape, found.trigger))}")
    if found.backtests.is_empty():
        out.print("not back-tested")
    else:
        _show(found.backtests.drop("detail"), "Back-test")
    if found.tryouts.is_empty():
        out.print("not tried out")
    else:
        _show(found.tryouts, "Try-out, in pairs of episodes")
    if found.by_build.is_empty():
        out.print("never used in training")
    else:
        _show(found.by_build, "Episodes of use")
    _show(found.neighbours, "Neighbours: the same action")
    _show(found.conflicts.drop("kind", "target"), "Conflicts")
    _show(found.decisions.drop("decision_id", "conflict_with"), "Decisions")
    _show(found.versions, "States")


def _show(rows: pl.DataFrame, title: str) -> None:
    """A table of short ids, where there are rows."""
    short = [name for name in rows.columns if name.endswith("_id") or name == "merged_into"]
    if rows.height:
        names = {name: name.removesuffix("_id") for name in short}
        show(rows.with_columns(pl.col(short).str.head(_SHORT)).rename(names), title, ROWS)


def _lineage(home: Path, entry: Entry) -> Tree:
    """The way from an entry to the ticks of the recordings."""
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
    return tree
