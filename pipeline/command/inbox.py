"""`mineevolve knowledge hand-in` and `take-in`."""

from pathlib import Path

from rich.markup import escape

from pipeline.command.console import MISUSED, err, explained, fail, out
from pipeline.command.exchange import curated_and_published
from pipeline.command.rollback import stale_words
from pipeline.command.sources import chosen_build
from pipeline.settings import Settings
from warehouse import inbox, log
from warehouse.analysis import publish
from warehouse.exchange import facts_of
from warehouse.log_tables import load_put_aside, unlisted
from warehouse.shards import DamagedShardError
from warehouse.snapshots import published_snapshot


def handed_in(target: Path, build: str | None) -> None:
    """Puts this home's candidates into the inbox of the data home `target`."""
    settings = Settings()
    home = settings.home
    builds = None if build is None else [chosen_build(build, settings)]
    if not target.is_dir():
        raise fail(f"{target} is no folder: give the data home that curates", MISUSED)
    if target.resolve() == home:
        raise fail(f"{target} is this data home, which curates its own candidates; name another one", MISUSED)
    with explained(DamagedShardError), err.status("handing in"):
        candidates = log.candidates_of(log.read(home, "candidates", builds))
        facts = facts_of(home, {one for candidate in candidates for one in candidate.support})
        shards = inbox.hand_in(target, candidates, facts)
    if not shards:
        what = "no candidates" if build is None else f"no candidates of build {build}"
        raise fail(f"{home} has {what}: `mineevolve run` or `mineevolve train` makes them", MISUSED)
    handed, cited = (sum(counts) for counts in zip(*(one[1:] for one in shards), strict=True))
    out.print(
        f"Handed in {handed} candidates with {cited} pieces of evidence to {target}: {len(shards)} shards. "
        "They are taken in there by `mineevolve knowledge take-in` or by the next run of their build.",
        markup=False,
        soft_wrap=True,
    )


def taken_in(build: str | None) -> None:
    """Takes in what lies in the inbox, has it decided on, with what was left undecided before, and says what
    came of it."""
    settings = Settings()
    home = settings.home
    builds = None if build is None else [chosen_build(build, settings)]
    with explained(DamagedShardError):
        taken = inbox.take_in(home, builds)
    for one in taken.put_aside:
        kept = one.kept_at.relative_to(home)
        out.print(
            f"[yellow]put aside[/] {escape(f'{one.file}: {one.reason}; kept as {kept}')}", soft_wrap=True
        )
    decided = {*taken.candidates, *(shard.build for shard in unlisted(home, "candidates", builds))}
    # Of a build that is handed nothing else, these rows are all that there is to load.
    aside = {shard.build for shard in unlisted(home, "put_aside", builds)} - decided
    for name in sorted(aside):
        load_put_aside(home, name)
    if aside and not decided:
        publish(home)
    if not decided:
        out.print(
            "Nothing that could be taken in lies in the inbox." if taken.put_aside else "The inbox is empty."
        )
        return
    curated_and_published(settings, decided)
    for name in sorted(decided):
        count = taken.candidates.get(name)
        what = (
            "What was taken in before was decided on in"
            if count is None
            else f"{count} candidates were taken into"
        )
        out.print(
            f"{what} build {name}, which publishes {published_snapshot(home, name)}.",
            markup=False,
            soft_wrap=True,
        )
    out.print(
        f"What became of each: `mineevolve sql \"FROM candidate_decisions WHERE build = '{max(decided)}'\"`.",
        markup=False,
        soft_wrap=True,
    )
    for said in stale_words(home):
        out.print(f"[yellow]stale[/]  {escape(said)}", soft_wrap=True)
