"""The append-only log below `log/`: everything that curation reads and that no trace can give again.

    log/<kind>/<build>/<content id>.parquet

A shard is named by the content of its rows, so appending the same rows twice changes nothing, and reading one
checks it against its name. Shards are never changed: what they hold is undone by later rows, not by editing.
A new kind of row is a new line in `KINDS`.
"""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from warehouse.entries import Review, TryOut, Usage
from warehouse.ids import BUILD_NAME, canonical_bytes, derive_id
from warehouse.knowledge import Candidate, Predicate, RemedyContent, Scalar, SkillContent, Step
from warehouse.shards import ROW_GROUP, ZSTD_LEVEL, DamagedShardError, replacing

# A predicate's value is one of three kinds; exactly one field of each `values` element is set.
SCALAR: Final = pl.Struct({"text": pl.String, "number": pl.Float64, "flag": pl.Boolean})
PREDICATE: Final = pl.Struct({"field": pl.String, "op": pl.String, "values": pl.List(SCALAR)})
STEP: Final = pl.Struct({"kind": pl.String, "target": pl.String, "count": pl.Int32})

# How a piece of knowledge is laid out in columns, wherever it is stored.
KNOWLEDGE_COLUMNS: Final[dict[str, pl.DataType]] = {
    "domain": pl.String(),
    "type": pl.String(),
    "kind": pl.String(),
    "target": pl.String(),
    "failure_type": pl.String(),
    "missing": pl.List(pl.String),
    "scope": pl.String(),
    "category": pl.String(),
    "trigger": pl.List(PREDICATE),
    "steps": pl.List(STEP),
}


class LogKind(NamedTuple):
    """A kind of row: its columns, and the one (or the ones) that name a row."""

    schema: pl.Schema
    key: tuple[str, ...]


def _strings(*names: str) -> dict[str, pl.DataType]:
    return dict.fromkeys(names, pl.String())


KINDS: Final[dict[str, LogKind]] = {
    # `record` is the candidate as canonical JSON, from which it is read back; a trigger mixes value types.
    "candidates": LogKind(
        pl.Schema(
            {
                **_strings("candidate_id", "entry_id", "build"),
                **KNOWLEDGE_COLUMNS,
                "support": pl.List(pl.String),
                **_strings("request_id", "engine", "record"),
            }
        ),
        ("candidate_id",),
    ),
    # One model answer; prompts/language_model.py says what the columns hold.
    "answers": LogKind(
        pl.Schema(
            {
                **_strings("answer_id", "build", "request_id", "cache_key", "role", "template", "model"),
                **_strings("system", "user", "situation", "raw", "value", "error", "error_detail"),
                "tokens_in": pl.Int32(),
                "tokens_out": pl.Int32(),
            }
        ),
        ("answer_id",),
    ),
    # One use of an entry in one attempt, and how the attempt ended.
    "usage": LogKind(
        pl.Schema({**_strings("build", "entry_id", "feedback_id", "episode_id"), "won": pl.Boolean()}),
        ("entry_id", "feedback_id"),
    ),
    # A reviewer's verdict on a candidate that had passed the checks; Curator reads it (warehouse/curator.py).
    "reviews": LogKind(
        pl.Schema(
            _strings(
                "build", "candidate_id", "entry_id", "verdict", "reason", "request_id", "model", "template"
            )
        ),
        ("candidate_id", "request_id", "model"),
    ),
    # An entry tried out from one situation: with it or without (`arm`), what came of it and how long it took;
    # Curator reads it (warehouse/tryouts.py).
    "tryouts": LogKind(
        pl.Schema(
            {
                **_strings("build", "entry_id", "situation", "episode_id"),
                "world_seed": pl.Int64(),
                "arm": pl.String(),
                "success": pl.Boolean(),
                "lead": pl.Int32(),
                "ticks": pl.Int32(),
            }
        ),
        ("entry_id", "situation", "world_seed", "arm"),
    ),
    # Evidence that came with knowledge from another data home; `record` is a fact (warehouse/exchange.py).
    # `file_id` is the file or the shard of the inbox that it came in; handed in, it is of no snapshot.
    "imports": LogKind(
        pl.Schema(_strings("build", "file_id", "snapshot_id", "feedback_id", "episode_id", "record")),
        ("feedback_id",),
    ),
    # A shard that was handed in and could not be read (warehouse/inbox.py), and where it is kept now. No
    # curation reads these.
    "put_aside": LogKind(
        pl.Schema(
            {
                **_strings("build", "kept_at"),
                "position": pl.Int64(),
                "reason": pl.String(),
                "size": pl.Int64(),
            }
        ),
        ("kept_at",),
    ),
    # A build was set back from what its knowledge froze to, `instead_of`, to a snapshot; the highest number
    # counts.
    "rollbacks": LogKind(
        pl.Schema({"build": pl.String(), "number": pl.Int32(), **_strings("instead_of", "snapshot_id")}),
        ("build", "number"),
    ),
    # What a frozen evaluation came to, at one of three levels. No curation reads these.
    "evaluations": LogKind(
        pl.Schema(
            {
                **_strings("evaluation_id", "build", "task_group", "difficulty", "level", "task_id"),
                "planner_seed": pl.Int64(),
                **_strings("arm", "snapshot_id", "config_hash"),
                **dict.fromkeys(("tasks", "worlds", "planner_seeds", "k", "n", "excluded"), pl.Int32()),
                **dict.fromkeys(("low", "high"), pl.Float64()),
                **dict.fromkeys(("only_frozen", "only_empty"), pl.Int32()),
                **dict.fromkeys(
                    ("mcnemar_p", "difference", "difference_low", "difference_high"), pl.Float64()
                ),
                "drawn": pl.String(),
            }
        ),
        ("evaluation_id", "level", "task_id", "planner_seed", "arm"),
    ),
}


class LogShard(NamedTuple):
    """A shard of the log; `shard_id` is the hash of its rows."""

    build: str
    kind: str
    shard_id: str
    path: Path


def append(home: Path, kind: str, build: str, rows: pl.DataFrame) -> Path | None:
    """Adds `rows` to the log as one shard; its path, None when there are no rows.

    Order and repetition of rows do not matter. `ValueError` for an unknown kind, for columns that differ from
    the kind's, for rows of another build and for two different rows of one key; `DamagedShardError` if the
    shard is already there and is not what its name says (it is left as it is).
    """
    known = _known(kind)
    if not BUILD_NAME.fullmatch(build):
        raise ValueError(f"{build!r} cannot name a folder: letters, digits, '.', '_' and '-' only")
    if missing := set(known.schema) ^ set(rows.columns):
        raise ValueError(f"rows of the {kind} log differ from its columns in {sorted(missing)}")
    if rows.is_empty():
        return None
    if strangers := sorted(set(rows["build"]) - {build}, key=str):
        raise ValueError(f"rows for build {build!r} say that they are of build {strangers[0]!r}")
    stored = in_order(kind, rows.select(pl.col(name).cast(dtype) for name, dtype in known.schema.items()))
    path = home / "log" / kind / build / f"{content_id(kind, build, stored)}.parquet"
    if path.exists():
        read_shard(LogShard(build, kind, path.stem, path))
        return path
    with replacing(path) as temporary:
        stored.write_parquet(
            temporary, compression="zstd", compression_level=ZSTD_LEVEL, row_group_size=ROW_GROUP
        )
    return path


def shards(home: Path, builds: Collection[str] | None = None) -> list[LogShard]:
    """The log's shards in the order in which they are folded: (build, kind, id)."""
    found = [
        LogShard(path.parts[-2], path.parts[-3], path.stem, path)
        for path in (home / "log").glob("*/*/[0-9a-f]*.parquet")
    ]
    return sorted(shard for shard in found if builds is None or shard.build in builds)


def read(home: Path, kind: str, builds: Collection[str] | None = None) -> pl.DataFrame:
    """The rows of a kind, shard after shard in the order (build, id); a key that several shards of the log
    hold is given once, where it first stands.

    `DamagedShardError` names a shard whose rows are not the ones that it was named for.
    """
    known = _known(kind)
    frames = [read_shard(shard) for shard in shards(home, builds) if shard.kind == kind]
    if not frames:
        return pl.DataFrame(schema=known.schema)
    return pl.concat(frames).unique(subset=list(known.key), keep="first", maintain_order=True)


def in_order(kind: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Each row once, sorted by its key: as a shard of the kind stores them. `ValueError` for two different
    rows of one key."""
    key = list(KINDS[kind].key)
    once = rows.with_columns(
        pl.Series("_bytes", [canonical_bytes(row) for row in rows.iter_rows(named=True)], dtype=pl.Binary)
    ).unique(subset="_bytes", maintain_order=True)
    if once.select(key).is_duplicated().any():
        raise ValueError(f"two different rows of the {kind} log have the same {', '.join(key)}")
    return once.drop("_bytes").sort(key).rechunk()


def content_id(kind: str, build: str, rows: pl.DataFrame) -> str:
    """What a shard of these rows is named, as they stand."""
    return derive_id("log", [kind, build, rows.to_dicts()])


def read_shard(shard: LogShard) -> pl.DataFrame:
    """The rows of a shard; `DamagedShardError` names one whose rows are not those that it was named for."""
    known = _known(shard.kind)
    try:
        rows = pl.read_parquet(shard.path, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DamagedShardError(f"{shard.path} is damaged: {error}") from error
    if rows.schema != known.schema or content_id(shard.kind, shard.build, rows) != shard.shard_id:
        raise DamagedShardError(f"{shard.path} is damaged: its rows are not the ones that it was named for")
    return rows


def candidate_rows(candidates: Iterable[Candidate]) -> pl.DataFrame:
    """Candidates as rows of the `candidates` log."""
    rows = [
        {
            "candidate_id": candidate.candidate_id,
            "entry_id": candidate.entry_id,
            "build": candidate.build,
            **knowledge_columns(candidate.domain, candidate.trigger, candidate.content),
            "support": list(candidate.support),
            "request_id": candidate.request_id,
            "engine": candidate.engine,
            "record": canonical_bytes(candidate).decode(),
        }
        for candidate in candidates
    ]
    return pl.DataFrame(rows, schema=KINDS["candidates"].schema, orient="row")


def candidates_of(rows: pl.DataFrame) -> list[Candidate]:
    """The candidates that rows of the `candidates` log hold, in the order of the rows."""
    return [Candidate.model_validate_json(record) for record in rows["record"]]


def usage_rows(build: str, usage: Iterable[Usage]) -> pl.DataFrame:
    """Outcomes of use as rows of the `usage` log."""
    rows = [{**one.model_dump(), "build": build} for one in usage]
    return pl.DataFrame(rows, schema=KINDS["usage"].schema, orient="row")


def usage_of(rows: pl.DataFrame) -> list[Usage]:
    """The outcomes that rows of the `usage` log hold."""
    return [Usage(**row) for row in rows.iter_rows(named=True)]


def review_rows(build: str, reviews: Iterable[Review]) -> pl.DataFrame:
    """Verdicts as rows of the `reviews` log."""
    rows = [{"build": build, **one.model_dump()} for one in reviews]
    return pl.DataFrame(rows, schema=KINDS["reviews"].schema, orient="row")


def reviews_of(rows: pl.DataFrame) -> list[Review]:
    """The verdicts that rows of the `reviews` log hold."""
    return [Review(**row) for row in rows.drop("build").iter_rows(named=True)]


def tryout_rows(build: str, tryouts: Iterable[TryOut]) -> pl.DataFrame:
    """Try-outs as rows of the `tryouts` log."""
    rows = [{"build": build, **one.model_dump()} for one in tryouts]
    return pl.DataFrame(rows, schema=KINDS["tryouts"].schema, orient="row")


def tryouts_of(rows: pl.DataFrame) -> list[TryOut]:
    """The try-outs that rows of the `tryouts` log hold."""
    return [TryOut(**row) for row in rows.drop("build").iter_rows(named=True)]


def knowledge_columns(
    domain: str, trigger: tuple[Predicate, ...], content: SkillContent | RemedyContent
) -> dict[str, Any]:
    """A piece of knowledge as values of `KNOWLEDGE_COLUMNS`. A skill's kind and target are what it reaches,
    a remedy's what failed; `missing` and `failure_type` are null for a skill."""
    about = content.risk if isinstance(content, RemedyContent) else content
    steps = content.repair if isinstance(content, RemedyContent) else content.steps
    return {
        "domain": domain,
        "type": "remedy" if isinstance(content, RemedyContent) else "skill",
        "kind": about.kind,
        "target": about.target,
        "failure_type": content.risk.failure_type if isinstance(content, RemedyContent) else None,
        "missing": list(content.risk.missing) if isinstance(content, RemedyContent) else None,
        "scope": content.scope,
        "category": content.category,
        "trigger": [_predicate(predicate) for predicate in trigger],
        "steps": [_step(step) for step in steps],
    }


def _predicate(predicate: Predicate) -> dict[str, Any]:
    values = predicate.value if isinstance(predicate.value, tuple) else (predicate.value,)
    return {
        "field": predicate.field,
        "op": predicate.op,
        "values": [_scalar(value) for value in values],
    }


def _scalar(value: Scalar) -> dict[str, Any]:
    # A bool is an int in Python, so it is asked for first.
    if isinstance(value, bool):
        return {"text": None, "number": None, "flag": value}
    if isinstance(value, str):
        return {"text": value, "number": None, "flag": None}
    return {"text": None, "number": float(value), "flag": None}


def _step(step: Step) -> dict[str, Any]:
    return {"kind": step.kind, "target": step.target, "count": step.count}


def _known(kind: str) -> LogKind:
    if kind not in KINDS:
        raise ValueError(f"the log has no kind {kind!r}; it has {sorted(KINDS)}")
    return KINDS[kind]
