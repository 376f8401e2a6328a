"""`mineevolve knowledge export` and `import`."""

import os
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from pipeline.command.ask import query
from pipeline.command.console import MISUSED, err, explained, fail, out, show
from pipeline.command.named import named_snapshot, one_that_publishes
from pipeline.command.rollouts import told
from pipeline.command.sources import chosen_build
from pipeline.settings import Settings
from warehouse.exchange import ExchangeError, exported, note_import
from warehouse.shards import DamagedShardError, write_bytes
from warehouse.snapshots import published_snapshot


def export(target: Path, which: str | None) -> None:
    """Writes a snapshot's entries to a JSONL file, or as SKILL.md files into a new folder."""
    from prompts.skill_files import skill_files

    home = Settings().home
    with explained(DamagedShardError, OSError):
        snapshot = named_snapshot(home, which or one_that_publishes(home))
        if target.suffix == ".jsonl":
            if not target.parent.is_dir():
                raise fail(f"cannot write {target}: there is no folder {target.parent}", MISUSED)
            write_bytes(target, exported(home, snapshot))
            what = f"{len(snapshot.entries)} entries of snapshot {snapshot.snapshot_id} to {target}"
        else:
            if target.is_file() or (target.is_dir() and any(target.iterdir())):
                raise fail(
                    f"{target} is there already: SKILL.md files go into a new or empty folder, JSONL into a "
                    "file that ends in .jsonl",
                    MISUSED,
                )
            files = skill_files(snapshot.entries, snapshot.snapshot_id)
            for path, text in files.items():
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                write_bytes(target / path, text.encode())
            what = f"{len(files)} SKILL.md files of snapshot {snapshot.snapshot_id} below {target}"
    out.print(f"wrote {what}", markup=False, soft_wrap=True)


def take_in(file: Path, build: str | None) -> None:
    """Proposes what a file holds in a build, has it decided on, and publishes what came of it."""
    settings = Settings()
    home, chosen = settings.home, chosen_build(build, settings)
    with explained(ExchangeError, OSError, code=MISUSED):
        taken = note_import(home, chosen, file, settings.domain)
    curated_and_published(settings, [chosen])
    rows = query(
        home,
        "SELECT d.verdict, c.type, c.kind, c.target, left(d.entry_id, 8) AS entry, "
        "coalesce(d.reasons[1].rule || ': ' || d.reasons[1].detail, '') AS why "
        "FROM decisions AS d JOIN candidates AS c USING (candidate_id) "
        "WHERE c.build = $1 AND c.request_id = $2 "
        "ORDER BY d.verdict DESC, c.type, c.kind, c.target, d.entry_id",
        [chosen, f"import/{taken.file_id}"],
    )
    accepted = rows.filter(pl.col("verdict") == "accepted").height
    show(rows.filter(pl.col("verdict") == "rejected"), f"{rows.height - accepted} entries were rejected")
    out.print(
        f"{accepted} of {rows.height} entries accepted into build {chosen}, by {taken.feedback} pieces of "
        f"evidence that came with them. It publishes snapshot {published_snapshot(home, chosen)}; the builds "
        "after it can play with that.",
        markup=False,
        soft_wrap=True,
    )


def curated_and_published(settings: Settings, builds: Iterable[str]) -> None:
    """Has what these builds propose reviewed, tried out and decided on, one after the other, and publishes
    their snapshots and analysis.duckdb."""
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")
    from pipeline import launch

    with told():
        for build in sorted(builds):
            with err.status(f"build {build}: deciding"):
                launch.take_in_candidates(settings, build)
        with err.status("publishing analysis.duckdb"):
            launch.publish_analysis(settings)
