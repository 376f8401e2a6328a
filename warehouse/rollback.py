"""Rollback: a build hands on an earlier snapshot instead of what it learnt.

Nothing is deleted. A rollback is a row of the log, (build, number, instead_of, snapshot_id), and the fold
reads it: where the build's knowledge freezes to `instead_of`, the store is set back to `snapshot_id`, so that
neither the next rollouts nor the next curation know what was taken back. A new generation of the build
freezes to another id, is other knowledge, and is not touched by it. The row of the highest number counts, so
that a rollback is taken back by another one.

What a store held and the snapshot does not is *withdrawn*: it stays in the warehouse with its history,
Curator is not shown it, and it comes back only when it is proposed anew and accepted.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from warehouse import log
from warehouse.database import LOCK_WAIT_S, fetch, writer
from warehouse.entries import SERVED, Decision, Entry, Reason
from warehouse.ids import derive_id
from warehouse.shards import DamagedShardError
from warehouse.snapshots import Snapshot, load_snapshot, normal, published_snapshot

WITHDRAWN: Final = "withdrawn"


class RollbackError(ValueError):
    """The build cannot be set back to that snapshot; the text says why."""


class Standing(NamedTuple):
    """What a folded build hands on: `snapshot_id`, which it was set back to where `instead_of` names what its
    own knowledge freezes to."""

    build: str
    snapshot_id: str
    instead_of: str | None

    @property
    def own(self) -> str:
        """What the build's own knowledge freezes to."""
        return self.instead_of or self.snapshot_id


class Outdated(NamedTuple):
    """A build that publishes another snapshot than its knowledge freezes to now."""

    build: str
    published: str
    now: str

    def __str__(self) -> str:
        return f"build {self.build} publishes snapshot {self.published}, and its knowledge is now {self.now}"


def rollbacks(home: Path, builds: Iterable[str] | None = None) -> dict[tuple[str, str], str]:
    """(build, the snapshot that it froze to) -> the one that it was set back to; the last word of each."""
    rows = log.read(home, "rollbacks", None if builds is None else set(builds)).sort("build", "number")
    return {(build, instead): to for build, _, instead, to in rows.select(_COLUMNS).iter_rows()}


def note_rollback(home: Path, build: str, snapshot: Snapshot, wait_s: float = LOCK_WAIT_S) -> Standing:
    """Logs that `build` is set back to `snapshot`; how the build stood before. The fold carries it out.

    `RollbackError` when the build was not folded, when the snapshot is uncurated, or when it knows what was
    learnt after the build. Said twice, it is logged once.
    """
    before = {one.build: one for one in standing(home, wait_s)}.get(build)
    if before is None:
        raise RollbackError(
            f"build {build} has no knowledge yet: `mineevolve snapshot list` shows which have"
        )
    if not snapshot.curated:
        raise RollbackError(
            f"snapshot {snapshot.snapshot_id} holds candidates as they came; only what Curator accepted is "
            "handed on"
        )
    later = sorted({entry.first_build for entry in snapshot.entries if entry.first_build > build})
    if later:
        raise RollbackError(
            f"snapshot {snapshot.snapshot_id} holds what was learnt in build {later[0]}, after build {build}"
        )
    if rollbacks(home, [build]).get((build, before.own), before.own) != snapshot.snapshot_id:
        number = log.read(home, "rollbacks", [build]).height + 1
        rows = [(build, number, before.own, snapshot.snapshot_id)]
        log.append(
            home, "rollbacks", build, pl.DataFrame(rows, schema=log.KINDS["rollbacks"].schema, orient="row")
        )
    return before


def standing(home: Path, wait_s: float = LOCK_WAIT_S) -> list[Standing]:
    """What each folded build hands on, in the order of the builds."""
    with writer(home, wait_s) as con:
        rows = fetch(con, "SELECT build, snapshot_id, instead_of FROM builds ORDER BY build")
    return [Standing(*row) for row in rows.iter_rows()]


def outdated(home: Path, wait_s: float = LOCK_WAIT_S) -> list[Outdated]:
    """The builds whose published snapshot is not what their knowledge freezes to now, because a build before
    them was learnt anew or set back since; sorted."""
    published = ((one, published_snapshot(home, one.build)) for one in standing(home, wait_s))
    return [
        Outdated(one.build, snapshot_id, one.snapshot_id)
        for one, snapshot_id in published
        if snapshot_id is not None and snapshot_id != one.snapshot_id
    ]


def shown_to_curator(store: Iterable[Entry]) -> dict[str, Entry]:
    """The part of a store that a pass of Curator begins with: all but what was withdrawn."""
    return {entry.entry_id: entry for entry in store if entry.status != WITHDRAWN}


def with_withdrawn(before: Iterable[Entry], after: Mapping[str, Entry]) -> tuple[Entry, ...]:
    """A store after a pass, `after`, and what was withdrawn `before` it, by id. An entry that the pass made
    again goes on with the version that it had."""
    whole = dict(after)
    for entry in before:
        if entry.status != WITHDRAWN:
            continue
        again = after.get(entry.entry_id)
        whole[entry.entry_id] = (
            entry if again is None else again.model_copy(update={"version": entry.version + again.version})
        )
    return tuple(normal(whole[entry_id]) for entry_id in sorted(whole))


def set_back(store: Iterable[Entry], snapshot: Snapshot) -> tuple[Entry, ...]:
    """`store` with the entries of `snapshot` as they were frozen, and the rest withdrawn, by id.

    What was merged into an entry that the snapshot holds stays merged into it.
    """
    held = {entry.entry_id: entry for entry in snapshot.entries}
    every = {entry.entry_id: entry for entry in store}
    after = dict(held)
    for entry_id, entry in every.items():
        if entry_id in held:
            continue
        if entry.status == WITHDRAWN or (entry.status == "merged" and _end(entry, every) in held):
            after[entry_id] = entry
        else:
            change = {"status": WITHDRAWN, "merged_into": None, "version": entry.version + 1}
            after[entry_id] = entry.model_copy(update=change)
    return tuple(normal(after[entry_id]) for entry_id in sorted(after))


def withdrawals(
    build: str, before: Iterable[Entry], after: Iterable[Entry], snapshot: Snapshot
) -> tuple[Decision, ...]:
    """A decision for each entry that was served and that the rollback withdrew."""
    served = {entry.entry_id for entry in before if entry.status in SERVED}
    detail = f"build {build} was set back to snapshot {snapshot.snapshot_id}"
    return tuple(
        Decision(
            decision_id=derive_id("decision", [build, entry.entry_id, snapshot.snapshot_id]),
            build=build,
            candidate_id=entry.entry_id,
            entry_id=entry.entry_id,
            verdict="rejected",
            reasons=(Reason(rule="rollback", detail=detail),),
        )
        for entry in after
        if entry.status == WITHDRAWN and entry.entry_id in served
    )


def snapshot_of(home: Path, snapshot_id: str, known: Mapping[str, Snapshot]) -> Snapshot:
    """A snapshot that a rollback names. `DamagedShardError` where it is gone: without it the store cannot be
    made."""
    if snapshot_id in known:
        return known[snapshot_id]
    folder = home / "snapshots" / snapshot_id
    try:
        return load_snapshot(folder)
    except FileNotFoundError as error:
        raise DamagedShardError(f"{folder} is gone, and a build was set back to it") from error


def _end(entry: Entry, store: Mapping[str, Entry]) -> str:
    """The entry that stands for a merged one."""
    while entry.merged_into is not None and entry.merged_into in store:
        entry = store[entry.merged_into]
    return entry.merged_into or entry.entry_id


_COLUMNS: Final = ("build", "number", "instead_of", "snapshot_id")
