"""`mineevolve knowledge export` and `import`."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from pipeline.command.ask import query
from pipeline.command.console import MISUSED, err, explained, fail, out, show
from pipeline.command.named import named_snapshot, one_that_publishes
from pipeline.command.sources import chosen_build
from pipeline.settings import Settings
from warehouse.domains import load_domain
from warehouse.exchange import ExchangeError, exported, note_import
from warehouse.shards import DamagedShardError, write_bytes


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
    """Proposes what a file holds in a build, has Curator decide, and publishes what came of it."""
    settings = Settings()
    home, chosen = settings.home, chosen_build(build, settings)
    with explained(ExchangeError, OSError, code=MISUSED):
        taken = note_import(home, chosen, file, settings.domain)
    folder = curated_and_published(settings, [chosen])[chosen]
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
        f"evidence that came with them. It publishes snapshot {folder.name}; the builds after it can play "
        "with that.",
        markup=False,
        soft_wrap=True,
    )


def curated_and_published(settings: Settings, builds: Sequence[str]) -> dict[str, Path]:
    """Has Curator decide on what these builds propose, and publishes their snapshots, which are given by
    build, and analysis.duckdb."""
    from warehouse.analysis import publish
    from warehouse.build_evidence import StaleFeedbackError
    from warehouse.fold import curator, fold_build, store_after
    from warehouse.snapshots import publish_snapshot
    from warehouse.uncurated import uncurated_store

    home, curate = settings.home, curator(load_domain(settings.domain), settings.curation)
    folders = {}
    with explained(DamagedShardError, StaleFeedbackError), err.status("Curator reads it"):
        for build in sorted(builds):
            fold_build(home, build, curate)
        for build in sorted(builds):
            folders[build] = publish_snapshot(home, build, store_after(home, build))
            publish_snapshot(home, build, uncurated_store(home, build), curated=False)
        publish(home)
    return folders
