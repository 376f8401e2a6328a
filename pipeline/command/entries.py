"""What `mineevolve knowledge` prints."""

from pathlib import Path

from rich.markup import escape

from pipeline.command.ask import query
from pipeline.command.console import MISUSED, fail, out, show
from pipeline.settings import Settings
from warehouse.database import statement
from warehouse.entries import Entry, Support
from warehouse.knowledge import Candidate


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
    entry = _stored(home, prefix)
    if entry is None:
        _show_rejected(home, prefix)
        return
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
    _show_backtests(home, entry)
    _show_tryouts(home, entry.entry_id)
    _show_objections(home, entry.entry_id)


def backtested() -> None:
    """Prints the back-tests of what was accepted, and all that was rejected, with the reasons."""
    home = Settings().home
    # In few columns, so that a terminal of 80 has room for them; the views have the figures one by one.
    accepted = query(
        home,
        "SELECT left(d.entry_id, 8) AS entry, concat_ws(' ', d.kind, d.target, d.failure_type) AS about, "
        "b.verdict || ', ' || b.detail AS tested, "
        'round(b."precision", 2) AS "precision", round(b.recall, 2) AS recall '
        "FROM candidate_decisions AS d LEFT JOIN candidate_backtests AS b USING (candidate_id) "
        "WHERE d.verdict = 'accepted' ORDER BY d.type, about, d.candidate_id",
    )
    show(accepted, f"Accepted: {accepted.height} candidates")
    rejected = query(
        home,
        "SELECT left(candidate_id, 8) AS candidate, concat_ws(' ', kind, target, failure_type) AS about, "
        "reasons FROM candidate_decisions WHERE verdict = 'rejected' "
        "ORDER BY list_sort(rules), about, candidate_id",
    )
    show(rejected, f"Rejected: {rejected.height} candidates")


def _show_backtests(home: Path, entry: Entry) -> None:
    """Prints how the conditions fared on attempts that the entry was not drawn from; also of what was merged
    into it."""
    tested = query(
        home,
        "SELECT build, left(candidate_id, 8) AS candidate, verdict, fired, hits, successes, missed, unknown, "
        'round("precision", 3) AS "precision", round(recall, 3) AS recall '
        "FROM candidate_backtests WHERE entry_id = $1 OR stands_in = $1 ORDER BY build, candidate_id",
        [entry.entry_id],
    )
    if tested.height:
        show(tested, "Back-test: its conditions before attempts of other episodes")


def _show_tryouts(home: Path, entry_id: str) -> None:
    """Prints what came of trying out an entry, or what was merged into it, where that was done."""
    from warehouse.tryouts import Tally, finding, rules

    kin = query(home, statement("kin"), [entry_id])["entry_id"].to_list()
    *counts, worlds = query(
        home,
        "SELECT sum(both_arms)::BIGINT, sum(only_with)::BIGINT, sum(only_without)::BIGINT, "
        "sum(neither_arm)::BIGINT, len(list_distinct(flatten(list(world_seeds)))) "
        "FROM tryout_outcomes WHERE list_contains($1, entry_id)",
        [kin],
    ).row(0)
    if worlds:
        tally = Tally(*counts)
        out.print(f"Tried out in {worlds} worlds: {finding(tally, rules().test)}, {tally}.", soft_wrap=True)


def _show_objections(home: Path, entry_id: str) -> None:
    rejected = query(
        home,
        "SELECT build, left(candidate_id, 12) AS candidate, "
        "array_to_string([r.rule || ': ' || r.detail FOR r IN reasons], '; ') AS reasons "
        "FROM decisions WHERE entry_id = $1 AND verdict = 'rejected' ORDER BY build, candidate_id",
        [entry_id],
    )
    if rejected.height:
        show(rejected, "Decisions against it")


def _show_rejected(home: Path, prefix: str) -> None:
    """Prints what was proposed and is not in the store, with everything that speaks against it."""
    from prompts.rendering import render_entry
    from warehouse.proposed import as_entry

    found = query(
        home,
        "SELECT d.*, c.record, b.verdict || ', ' || b.detail AS tested FROM candidate_decisions AS d "
        "JOIN candidates AS c USING (candidate_id) LEFT JOIN backtests AS b USING (candidate_id) "
        "WHERE starts_with(d.entry_id, $1) OR starts_with(d.candidate_id, $1) "
        "ORDER BY d.build, d.candidate_id",
        [prefix],
    )
    if found.is_empty():
        raise fail(_not_found("no entry", prefix), MISUSED)
    for row in found.iter_rows(named=True):
        candidate = Candidate.model_validate_json(row["record"])
        cited = query(
            home,
            "SELECT feedback_id, episode_id FROM feedback WHERE list_contains($1, feedback_id)",
            [list(candidate.support)],
        )
        support = [Support(**each) for each in cited.iter_rows(named=True)]
        out.print(f"[bold]{candidate.type} {candidate.entry_id}[/]  ({row['verdict'] or 'not decided yet'})")
        out.print(f"candidate {candidate.candidate_id} of build {row['build']}, by {escape(row['engine'])}")
        out.print(f"attempts cited: {len(candidate.support)} · review: {row['review'] or 'none'}\n")
        out.print(escape(render_entry(as_entry(candidate, support))))
        if row["tested"] is not None:
            out.print(f"\nback-test: {row['tested']}", markup=False, soft_wrap=True)
        out.print(f"\n{escape(row['reasons'] or '')}", soft_wrap=True)
        _show_tryouts(home, candidate.entry_id)


def entry_of(home: Path, prefix: str) -> Entry:
    """The entry of the store whose id begins so; the command ends where there is none, or several."""
    entry = _stored(home, prefix)
    if entry is None:
        raise fail(_not_found("no entry", prefix), MISUSED)
    return entry


def _stored(home: Path, prefix: str) -> Entry | None:
    """The entry of the store whose id begins so; None for none. Several end the command."""
    found = query(
        home, "SELECT record FROM knowledge WHERE starts_with(entry_id, $1) ORDER BY entry_id", [prefix]
    )
    if found.height > 1:
        raise fail(_not_found(f"{found.height} entries", prefix), MISUSED)
    return Entry.model_validate_json(found["record"][0]) if found.height else None


def _not_found(what: str, prefix: str) -> str:
    return f"{what} with an id that begins with {prefix!r}: see `mineevolve knowledge list`"
