"""Episodes into the trace contract, and a batch of them onto the disk: resumable, and never twice.

    rollouts/<build>/<group>/<source>/<shard>/manifest.json   written last: the shard is whole
    traces/<build>/<group>/<table>/<hash>.parquet             its tables, where the trace store has them

Shards are fixed before the run: the batch's sorted episodes, 16 at a time. A batch that was killed plays only
the shards without a manifest again. Once all have one, the batch becomes a source of the trace store, which
cuts along the same episodes and so finds every file already there.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import polars as pl

from prompts.language_model import ANSWER_LOG
from rollouts.attempt_run import AttemptRun
from rollouts.budget import CallBudget
from rollouts.evidence import EVIDENCE
from rollouts.moves import MOVES
from rollouts.protocols import EpisodeSpec, Subgoal
from rollouts.sightings import Row
from rollouts.trace import Trace
from warehouse import log
from warehouse.database import exclusive
from warehouse.ids import derive_id
from warehouse.records import TABLES, TRACE_TABLES, arrange, empty, from_rows, polars_schema
from warehouse.shards import (
    EPISODES_PER_SHARD,
    MANIFEST,
    DamagedShardError,
    read_manifest,
    verify_file,
    write_manifest,
    write_shard,
)
from warehouse.trace_store import trace_store

Commit = Literal["written", "same", "different"]
TRUTHS: Final = pl.Schema(
    {
        "episode_id": pl.String(),
        "attempt": pl.Int32(),
        "tick": pl.Int32(),
        "failure_type": pl.String(),
        "detail": pl.String(),
        "scope": pl.String(),
    }
)
"""The worlds' inner truths: for scoring Monitor, and never part of a trace."""
_KEYED_MOVES: Final = pl.Schema({"episode_id": pl.String(), "attempt": pl.Int32(), **MOVES})
BUDGETS: Final = pl.Schema(
    {"episode_id": pl.String(), **dict.fromkeys(CallBudget().row(), pl.Int32()), "tries": pl.Int32()}
)
"""Model calls of each episode, used and remaining; `tries` is 2 where its environment failed once."""
_KEYS: Final = ("episode_id", "attempt")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class ForeignEpisodeError(ValueError):
    """Episodes that do not belong into one batch."""


@dataclass(frozen=True)
class Cast:
    """Who played: what the episodes of a batch have in common, by name."""

    agent: str
    planner: str
    executor: str


@dataclass(frozen=True)
class AttemptRecord:
    """An attempt with what was known of it before it began."""

    run: AttemptRun
    subgoal: Subgoal
    plan_id: str


@dataclass(frozen=True)
class EpisodeRecord:
    """An episode, ended or (`end_reason` recording_end) as far as it has got.

    `answers` are rows of the answer log, in the order in which they were asked for.
    """

    spec: EpisodeSpec
    cast: Cast
    observes: tuple[str, ...]
    attempts: tuple[AttemptRecord, ...]
    end_reason: str
    success_tick: int | None
    budget: CallBudget
    answers: tuple[Row, ...] = ()
    tries: int = 1

    @cached_property
    def episode_id(self) -> str:
        """Its id, known before the run."""
        return episode_id_of(self.spec)


def episode_id_of(spec: EpisodeSpec) -> str:
    """Build, task, world seed, planner seed, configuration, snapshot: the same six, the same episode."""
    return derive_id(
        "episode",
        [
            spec.build,
            spec.task_id,
            spec.world_seed,
            spec.planner_seed,
            spec.config_hash,
            spec.snapshot_id,
        ],
    )


def _keys(episode_id: str, attempt: int) -> tuple[pl.Expr, pl.Expr]:
    return pl.lit(episode_id).alias("episode_id"), pl.lit(attempt, pl.Int32).alias("attempt")


def trace_of(records: Iterable[EpisodeRecord]) -> Trace:
    """Episodes, ended or not, in the tables of the contract. The same episodes give the same rows."""
    # Sorted as they are put together: an attempt's rows come sorted, and attempts follow in time.
    ordered = sorted(records, key=lambda record: record.episode_id)
    attempts = [
        {"episode_id": record.episode_id, "attempt": each.run.attempt} | _attempt_row(each)
        for record in ordered
        for each in record.attempts
    ]
    return Trace(
        episodes=from_rows("episodes", [_episode_row(record) for record in ordered]),
        attempts=from_rows("attempts", attempts),
        **{table: _evidence(table, ordered) for table in EVIDENCE},
    )


def _evidence(table: str, records: Sequence[EpisodeRecord]) -> pl.DataFrame:
    """What the attempts filled by themselves, one after the other, with their keys."""
    frames: list[pl.DataFrame] = []
    keys: list[tuple[str, int, int]] = []
    for record in records:
        for each in record.attempts:
            frame = getattr(each.run, table)
            if frame.height:
                frames.append(frame)
                keys.append((record.episode_id, each.run.attempt, frame.height))
    if not frames:
        return empty(table)
    schema = polars_schema(table)
    rows = pl.concat(frames, rechunk=True)
    # All keys at once: a column for one attempt costs what one for thousands does.
    attempts = pl.DataFrame(keys, schema=[*_KEYS, "rows"], orient="row")
    spread = attempts.select(pl.col(name).cast(schema[name]).repeat_by("rows").explode() for name in _KEYS)
    return rows.hstack(spread).select(list(schema))


def _episode_row(record: EpisodeRecord) -> Row:
    spec = record.spec
    return {
        "episode_id": record.episode_id,
        "source": spec.world,
        "build": spec.build,
        "task_id": spec.task_id,
        "goal": spec.goal,
        "world": spec.world,
        "world_seed": spec.world_seed,
        "agent": record.cast.agent,
        "planner": record.cast.planner,
        "executor": record.cast.executor,
        "planner_seed": spec.planner_seed,
        "snapshot_id": spec.snapshot_id,
        "observes": list(record.observes),
        "horizon": spec.horizon,
        "n_ticks": max((each.run.end_tick for each in record.attempts), default=0),
        "success": record.success_tick is not None,
        "success_tick": record.success_tick,
        "end_reason": record.end_reason,
        "config_hash": spec.config_hash,
    }


def _attempt_row(each: AttemptRecord) -> Row:
    run, subgoal = each.run, each.subgoal
    return {
        "plan_id": each.plan_id,
        "subgoal_id": subgoal.subgoal_id,
        "condition": subgoal.condition,
        "kind": subgoal.kind,
        "target": subgoal.target,
        "needed": subgoal.count,
        "relative": False,  # a plan asks for totals
        "executor_hint": subgoal.executor_hint,
        "mode": subgoal.mode,
        "timeout_s": subgoal.timeout_s,
        "checks": [check.model_dump() for check in subgoal.checks],
        "start_tick": run.start_tick,
        "end_tick": run.end_tick,
        "success": run.success,
        "end_reason": run.end_reason,
        "state_before": run.state_before,
        "state_after": run.state_after,
        "knowledge_used": list(subgoal.knowledge),
    }


@dataclass(frozen=True)
class ShardPlan:
    """A shard as it was fixed before the run: its name, and its episodes sorted by id."""

    name: str
    specs: tuple[EpisodeSpec, ...]


def plan_shards(specs: Iterable[EpisodeSpec]) -> list[ShardPlan]:
    """The shards of these episodes. `ForeignEpisodeError` for an episode that is listed twice."""
    by_id: dict[str, EpisodeSpec] = {}
    for spec in specs:
        if by_id.setdefault(episode_id_of(spec), spec) is not spec:
            raise ForeignEpisodeError(f"episode {episode_id_of(spec)} ({spec.task_id}) is listed twice")
    ids = sorted(by_id)
    stretches = [ids[start : start + EPISODES_PER_SHARD] for start in range(0, len(ids), EPISODES_PER_SHARD)]
    return [
        ShardPlan(f"{number:04d}-{derive_id('shard', stretch)[:12]}", tuple(by_id[each] for each in stretch))
        for number, stretch in enumerate(stretches)
    ]


class Batch:
    """A batch's place on the disk: episodes of one build and one group, stored as one source."""

    def __init__(self, home: Path, source: str, specs: Sequence[EpisodeSpec]) -> None:
        places = sorted({(spec.build, spec.group) for spec in specs})
        if len(places) != 1:
            raise ForeignEpisodeError(f"a batch is of one build and group, and has {places or 'no episode'}")
        for name in (source, *places[0]):
            if not _NAME.fullmatch(name):
                raise ForeignEpisodeError(f"{name!r} cannot name a folder: letters, digits, '.', '_' and '-'")
        ((self.build, self.group),) = places
        # Whoever writes a shard may have another working directory.
        self.home = home = home.absolute()
        self.source = source
        self.shards = plan_shards(specs)
        self._folder = home / "rollouts" / self.build / self.group / source
        self._store = trace_store(home)
        self._tables = self._store.root / self.build / self.group

    def missing(self) -> list[ShardPlan]:
        """The shards that have to be played, in order: those of which no whole version is there."""
        return [shard for shard in self.shards if not self.is_whole(shard)]

    def commit(self, shard: ShardPlan, records: Sequence[EpisodeRecord]) -> Commit:
        """Stores a shard whose episodes have ended. Where another writer was faster, this one's version is
        dropped, and the answer says whether it was the same.

        `ForeignEpisodeError` unless the records are the shard's episodes, each once; dataframely's
        `ValidationError` for a row that breaks the contract.
        """
        wanted = [episode_id_of(spec) for spec in shard.specs]
        if sorted(record.episode_id for record in records) != wanted:
            raise ForeignEpisodeError(f"shard {shard.name} was given other episodes than its own")
        trace = trace_of(records).frames()
        for name, frame in trace.items():
            TABLES[name].schema.validate(frame, cast=True)
        own = self._folder / shard.name
        tables = {
            name: write_shard(self._tables / name, frame, name)
            for name, frame in trace.items()
            if frame.height
        }
        with exclusive(own / f".{MANIFEST}.lock", str(own)):
            if self.is_whole(shard):
                # A version that no manifest lists is what `gc` removes.
                return "same" if self._listed(shard) == tables else "different"
            log.append(self.home, "answers", self.build, _answer_rows(records))
            beside = {
                name: write_shard(own / name, frame)
                for name, frame in _beside(records).items()
                if frame.height
            }
            write_manifest(own, {"episodes": wanted, "tables": tables, "beside": beside})
        return "written"

    def publish(self) -> None:
        """Makes the batch a source of the trace store; what it had under that name is replaced.

        `DamagedShardError` while a shard is missing.
        """
        if missing := self.missing():
            raise DamagedShardError(
                f"{self._folder} lacks {len(missing)} shards, the first {missing[0].name}"
            )
        listed = [self._listed(shard) for shard in self.shards]
        frames = {}
        for name in TRACE_TABLES:
            files = [self._tables / name / tables[name]["file"] for tables in listed if name in tables]
            read = [pl.read_parquet(path, glob=False) for path in files]
            frames[name] = arrange(name, pl.concat([empty(name), *read]))
        self._store.write_source(self.build, self.group, self.source, frames)

    def beside(self, table: str) -> pl.DataFrame:
        """What was kept beside the trace (`moves`, `truths`, `budgets`) of the shards that are whole."""
        return _read_beside((self._folder / shard.name for shard in self.shards), table)

    def _listed(self, shard: ShardPlan) -> dict[str, Any]:
        """The tables of a shard that is whole, as its manifest has them."""
        manifest = read_manifest(self._folder / shard.name)
        assert manifest is not None
        tables: dict[str, Any] = manifest["tables"]
        return tables

    def is_whole(self, shard: ShardPlan) -> bool:
        """Whether a shard is committed and every file that it lists is there.

        What `gc` took from an unfinished batch is played again. A file of another content is an error: it
        was there when the manifest was written, and something has changed it since.
        """
        own = self._folder / shard.name
        manifest = read_manifest(own)
        if manifest is None:
            return False
        files = [(self._tables / name / each["file"], each) for name, each in manifest["tables"].items()]
        files += [(own / name / each["file"], each) for name, each in manifest["beside"].items()]
        if not all(path.exists() for path, _ in files):
            return False
        for path, each in files:
            verify_file(path, each["sha256"])
        return True


def stored_truths(home: Path, build: str) -> pl.DataFrame:
    """The inner truths (`TRUTHS`) of every shard of a build that is whole, each once: an episode that two
    batches have in common has the same truths in both."""
    manifests = (home / "rollouts" / build).glob(f"*/*/*/{MANIFEST}")
    return _read_beside(sorted(path.parent for path in manifests), "truths").unique(maintain_order=True)


def kept_beside(home: Path, build: str, group: str, source: str, table: str) -> pl.DataFrame:
    """`Batch.beside` of every shard that was ever played under this name, in the order of the folders' names.
    Episodes that were replaced since are among them, and one that two batches played stands there twice."""
    folder = home / "rollouts" / build / group / source
    return _read_beside(sorted(path.parent for path in folder.glob(f"*/{MANIFEST}")), table)


def _read_beside(folders: Iterable[Path], table: str) -> pl.DataFrame:
    """A table that is kept beside the trace, of those shards among `folders` that are whole."""
    frames = [pl.DataFrame(schema={"moves": _KEYED_MOVES, "truths": TRUTHS, "budgets": BUDGETS}[table])]
    for folder in folders:
        manifest = read_manifest(folder)
        if manifest is not None and table in manifest["beside"]:
            path = folder / table / manifest["beside"][table]["file"]
            frames.append(pl.read_parquet(path, glob=False))
    # A table of an older layout lacks columns: what they hold is unknown of its rows.
    return pl.concat(frames, how="diagonal")


def _beside(records: Iterable[EpisodeRecord]) -> dict[str, pl.DataFrame]:
    ordered = sorted(records, key=lambda record: record.episode_id)
    truths = [
        (record.episode_id, each.run.attempt, *truth)
        for record in ordered
        for each in record.attempts
        for truth in each.run.truths
    ]
    moves = [
        each.run.moves.select(*_keys(record.episode_id, each.run.attempt), pl.all())
        for record in ordered
        for each in record.attempts
    ]
    budgets = [
        {"episode_id": record.episode_id, **record.budget.row(), "tries": record.tries} for record in ordered
    ]
    return {
        "moves": pl.concat([pl.DataFrame(schema=_KEYED_MOVES), *moves], rechunk=True),
        "truths": pl.DataFrame(truths, schema=TRUTHS, orient="row"),
        "budgets": pl.DataFrame(budgets, schema=BUDGETS, orient="row"),
    }


def _answer_rows(records: Iterable[EpisodeRecord]) -> pl.DataFrame:
    rows = [row for record in records for row in record.answers]
    return pl.DataFrame(rows, schema=ANSWER_LOG, orient="row")
