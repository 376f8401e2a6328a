"""The warehouse as a fold over immutable shards, in the order (build, kind, id).

Nothing enters `warehouse.duckdb` that the shards below the data home do not hold or that Curator does not
make from them: `rebuild` replays everything, without a model call, to the same knowledge and the same
snapshot ids. Builds are folded in the sorted order of their names (so number them with leading zeros).
`fold_build` folds one build; later builds that were already folded are curated again on top of it, so the
warehouse is at any time what `rebuild` would make of the builds that it holds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

import duckdb
import polars as pl

from warehouse import log
from warehouse.backtest import Backtest
from warehouse.build_evidence import Evidence, evidence_by_build, held
from warehouse.curator import CuratorSettings, curate
from warehouse.database import (
    LOCK_WAIT_S,
    WAREHOUSE,
    exclusive,
    fetch,
    insert,
    lock_of,
    migrate,
    opened,
    run_script,
    settle,
    statement,
    transaction,
    writer,
)
from warehouse.domains import Domain
from warehouse.entries import Decision, Entry
from warehouse.lifecycle import Calendar, occasions
from warehouse.log_tables import LOG_TABLES, put_aside_rows
from warehouse.rollback import (
    rollbacks,
    set_back,
    shown_to_curator,
    snapshot_of,
    with_withdrawn,
    withdrawals,
)
from warehouse.shard_list import SHARD_COLUMNS, listed, log_listed
from warehouse.shards import replacing
from warehouse.snapshots import (
    Snapshot,
    entry_rows,
    freeze,
    list_snapshots,
    load_snapshot,
    snapshot_id_of,
    support_rows,
)
from warehouse.trace_store import Part, feedback_store, scan_shards, trace_store
from warehouse.uncurated import as_entries

# Tables of the trace store that the warehouse holds; ticks stay in Parquet.
LOADED: Final = (
    "episodes",
    "attempts",
    "events",
    "sightings",
    "inventory_changes",
    "feedback",
    "quarantine",
    "data_quality",
)
_WITH_ORIGIN: Final = ("episodes", "quarantine")
_DECISION_COLUMNS: Final = pl.Schema(
    {
        **dict.fromkeys(("decision_id", "build", "candidate_id", "entry_id", "verdict"), pl.String()),
        "reasons": pl.List(pl.Struct({"rule": pl.String, "detail": pl.String})),
        "merged_into": pl.String(),
        "conflict_with": pl.List(pl.String),
    }
)
_BACKTEST_COLUMNS: Final = pl.Schema(
    {
        **dict.fromkeys(("build", "candidate_id", "verdict", "detail"), pl.String()),
        **dict.fromkeys(
            ("attempts", "fired", "episodes", "hits", "successes", "quiet", "missed", "unknown"), pl.Int32()
        ),
        **dict.fromkeys(("precision", "precision_low", "precision_high", "recall"), pl.Float64()),
    }
)


class Curation(Protocol):
    """What Curator made of a build: the whole store after it, and a decision per candidate."""

    @property
    def store(self) -> Mapping[str, Entry]: ...

    @property
    def decisions(self) -> Sequence[Decision]: ...


@runtime_checkable
class Tested(Protocol):
    """A curation that held candidates against the record; one that did not has no back-tests."""

    @property
    def backtests(self) -> Sequence[Backtest]: ...


CurateBuild = Callable[[Evidence, Mapping[str, Entry]], Curation]


class FoldReport(NamedTuple):
    """What a fold did: the builds that were curated, each with the id its knowledge freezes to, and the rows
    of the warehouse's tables afterwards."""

    snapshot_ids: dict[str, str]
    rows: dict[str, int]


class _CuratedBuild(NamedTuple):
    build: str
    before: tuple[Entry, ...]
    after: tuple[Entry, ...]
    decisions: tuple[Decision, ...]
    backtests: tuple[Backtest, ...]
    snapshot_id: str
    instead_of: str | None
    uncurated: tuple[Entry, ...]

    @property
    def uncurated_id(self) -> str:
        return snapshot_id_of(self.uncurated, curated=False)


def curator(domain: Domain, settings: CuratorSettings) -> CurateBuild:
    """`warehouse.curator.curate` for this domain and these settings, as `fold_build` takes it."""

    def curate_build(evidence: Evidence, store: Mapping[str, Entry]) -> Curation:
        had = occasions(evidence.episodes, evidence.attempts, evidence.learnt)
        calendar = Calendar(had, domain, evidence.offered, evidence.set_back)
        return curate(
            evidence.candidates,
            evidence.facts,
            store,
            evidence.usage,
            domain,
            replace(settings, build=evidence.build),
            evidence.reviews,
            evidence.only_imported,
            calendar,
            evidence.tryouts,
        )

    return curate_build


def fold_build(home: Path, build: str, curate: CurateBuild, wait_s: float = LOCK_WAIT_S) -> FoldReport:
    """Loads one build into the warehouse and curates it, and every later build that is already there.

    One transaction: an error or a kill leaves the warehouse as it was. Raises `DamagedShardError` for a file
    that differs from its hash, `StaleFeedbackError` for feedback older than its traces, `BusyError` when
    another process keeps the warehouse.
    """
    with writer(home, wait_s) as con:
        folded = fetch(con, "SELECT build FROM builds ORDER BY build")["build"].to_list()
        return _fold(con, home, [build], sorted({*folded, build}), curate)


def rebuild(home: Path, curate: CurateBuild, wait_s: float = LOCK_WAIT_S) -> FoldReport:
    """Makes the warehouse anew from every shard, in a file beside it that then takes its place.

    The old file stays until the new one is whole, and it is not read: this also mends a damaged one. Raises
    as `fold_build` does.
    """
    path = home / WAREHOUSE
    builds = all_builds(home)
    load = sorted({*builds, *(shard.build for shard in log.shards(home))})
    with exclusive(lock_of(home), str(path), wait_s):
        for leftover in home.glob(f".{WAREHOUSE}.*.tmp*"):
            leftover.unlink()
        with replacing(path) as temporary:
            with opened(temporary) as con:
                migrate(con)
                report = _fold(con, home, load, builds, curate)
                settle(con)
            # What a killed writer left here belongs to the old file and would be replayed on the new one.
            path.with_name(f"{WAREHOUSE}.wal").unlink(missing_ok=True)
    return report


def all_builds(home: Path) -> list[str]:
    """Every build that has traces, feedback or log rows, in the order in which they are folded. One that only
    something was put aside for is none."""
    logged = {shard.build for shard in log.shards(home) if shard.kind != "put_aside"}
    return sorted({*trace_store(home).builds(), *feedback_store(home).builds(), *logged})


def store_after(home: Path, build: str, wait_s: float = LOCK_WAIT_S) -> tuple[Entry, ...]:
    """The knowledge store as it stood after `build`, entries of every status by id: what a build publishes.

    `ValueError` when that build was not folded.
    """
    with writer(home, wait_s) as con:
        if fetch(con, "SELECT build FROM builds WHERE build = $1", [build]).is_empty():
            raise ValueError(
                f"build {build!r} is not in the warehouse: `mineevolve warehouse rebuild` folds it"
            )
        return _store(con, "fold/store_after", build)


def _fold(
    con: duckdb.DuckDBPyConnection, home: Path, load: list[str], builds: list[str], curate: CurateBuild
) -> FoldReport:
    """Loads the builds in `load` and curates `builds` from the first of those on."""
    trace_store(home).verify(load, [table for table in LOADED if table != "feedback"])
    feedback_store(home).verify(load)
    published = [load_snapshot(folder) for folder in list_snapshots(home)]
    first = min(load, default="")
    before = _store(con, "fold/store_before", first)
    curated = list(_curate(home, builds, first, before, curate, {one.snapshot_id: one for one in published}))
    with transaction(con):
        for build in load:
            run_script(con, "fold/clear_build", build)
            _load(con, home, build)
        run_script(con, "fold/clear_curation", first)
        for one in curated:
            _insert_curation(con, one)
        if curated:
            con.execute("DELETE FROM knowledge; DELETE FROM knowledge_support")
            insert(con, "knowledge", entry_rows(curated[-1].after))
            insert(con, "knowledge_support", support_rows(curated[-1].after))
        frozen = {one.snapshot_id: (True, freeze(one.after)) for one in curated}
        frozen |= {one.uncurated_id: (False, one.uncurated) for one in curated}
        _insert_snapshots(con, frozen, published)
    return FoldReport({one.build: one.snapshot_id for one in curated}, _row_counts(con))


def _curate(
    home: Path,
    builds: list[str],
    first: str,
    store: tuple[Entry, ...],
    curate: CurateBuild,
    published: Mapping[str, Snapshot],
) -> Iterable[_CuratedBuild]:
    backwards = rollbacks(home, builds)
    for evidence in evidence_by_build(home, builds, first):
        build = evidence.build
        curation = curate(evidence, shown_to_curator(store))
        after, decisions = with_withdrawn(store, curation.store), list(curation.decisions)
        own = snapshot_id_of(after)
        snapshot_id = backwards.get((build, own), own)
        if snapshot_id != own:
            snapshot = snapshot_of(home, snapshot_id, published)
            whole, after = after, set_back(after, snapshot)
            decisions += withdrawals(build, whole, after, snapshot)
        decided = tuple(sorted(decisions, key=lambda decision: decision.decision_id))
        uncurated = as_entries(evidence.proposed, evidence.episode_of, evidence.usage)
        instead_of = None if snapshot_id == own else own
        tested = tuple(curation.backtests) if isinstance(curation, Tested) else ()
        yield _CuratedBuild(build, store, after, decided, tested, snapshot_id, instead_of, uncurated)
        store = after


def _load(con: duckdb.DuckDBPyConnection, home: Path, build: str) -> None:
    """A build's rows of the trace contract and of the log, and the list of the shards that they come from."""
    files: list[dict[str, Any]] = []
    for store in (trace_store(home), feedback_store(home)):
        for part in store.parts(builds=[build]):
            files += listed(home, store.root.name, part)
            if part.table in LOADED and part.shards:
                insert(con, part.table, _with_origin(part))
    # In the log of a build may be a use, or a try-out, of an episode of one before it.
    traces = trace_store(home)
    so_far = traces.scan("episodes", [one for one in traces.builds() if one <= build])
    episodes = so_far.select("episode_id").collect()
    for kind, table in LOG_TABLES.items():
        rows = log.read(home, kind, [build]).select(_columns(kind))
        if kind in ("usage", "tryouts"):
            rows = held(rows, episodes)
        insert(con, table, rows)
    insert(con, "quarantine", put_aside_rows(home, build))
    files += log_listed(home, build, log.KINDS)
    insert(con, "shards", pl.DataFrame(files, schema=SHARD_COLUMNS, orient="row"))


def _with_origin(part: Part) -> pl.DataFrame:
    rows = scan_shards(part.table, part.shards).collect()
    if part.table not in _WITH_ORIGIN:
        return rows
    origin = {"build": part.build, "task_group": part.group, "source_name": part.source}
    return rows.with_columns(pl.lit(value).alias(name) for name, value in origin.items())


def _columns(kind: str) -> list[str]:
    return list(log.KINDS[kind].schema)


def _insert_curation(con: duckdb.DuckDBPyConnection, one: _CuratedBuild) -> None:
    rows = [decision.model_dump(mode="json") for decision in one.decisions]
    insert(con, "decisions", pl.DataFrame(rows, schema=_DECISION_COLUMNS, orient="row"))
    insert(con, "backtests", pl.DataFrame(one.backtests, schema=_BACKTEST_COLUMNS, orient="row"))
    known = {entry.entry_id: entry for entry in one.before}
    changed = entry_rows(entry for entry in one.after if known.get(entry.entry_id) != entry)
    versions = changed.select(
        "entry_id", "version", "status", "confidence", "support", "support_episodes", "uses", "wins", "record"
    )
    insert(con, "knowledge_versions", versions.with_columns(build=pl.lit(one.build)))
    named = {
        "build": one.build,
        "snapshot_id": one.snapshot_id,
        "uncurated_snapshot_id": one.uncurated_id,
        "instead_of": one.instead_of,
    }
    insert(con, "builds", pl.DataFrame([named], schema=dict.fromkeys(named, pl.String)))


def _insert_snapshots(
    con: duckdb.DuckDBPyConnection,
    folded: dict[str, tuple[bool, tuple[Entry, ...]]],
    published: Iterable[Snapshot],
) -> None:
    """The snapshots of the folded builds (id -> whether it is curated, and its entries), and those that were
    published and are on the disk, whatever became of their build since: rollouts may have been made with
    them."""
    held = set(fetch(con, "SELECT snapshot_id FROM snapshots")["snapshot_id"])
    every = {**{one.snapshot_id: (one.curated, one.entries) for one in published}, **folded}
    for snapshot_id in sorted(every):
        curated, entries = every[snapshot_id]
        if snapshot_id in held:
            continue
        skills = sum(entry.type == "skill" for entry in entries)
        figures = [snapshot_id, len(entries), skills, len(entries) - skills, curated]
        con.execute("INSERT INTO snapshots VALUES (?, ?, ?, ?, ?)", figures)
        frozen = entry_rows(entries).select(
            "entry_id",
            "type",
            "kind",
            "target",
            "confidence",
            "support",
            "support_episodes",
            "uses",
            "wins",
            "version",
        )
        insert(con, "snapshot_entries", frozen.with_columns(snapshot_id=pl.lit(snapshot_id)))


def _row_counts(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    names = [name for (name,) in con.sql("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
    return {
        name: con.sql(f"SELECT count(*) FROM {name}").fetchall()[0][0]
        for name in names
        if name != "migrations"
    }


def _store(con: duckdb.DuckDBPyConnection, query: str, build: str) -> tuple[Entry, ...]:
    records = fetch(con, statement(query), [build])["record"]
    return tuple(Entry.model_validate_json(record) for record in records)
