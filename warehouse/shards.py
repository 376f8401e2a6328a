"""Immutable Parquet shards, named by their content, committed by a manifest that is written last.

A folder of shards is whole if and only if its manifest exists and every file it lists is there with the hash
it lists. A shard is never replaced in place; a new manifest simply no longer lists an old one.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import orjson
import polars as pl

from warehouse.ids import file_digest
from warehouse.records import arrange
from warehouse.writing import reached, refusals_explained, writer_name

EPISODES_PER_SHARD: Final = 16
ROW_GROUP: Final = 125_000
ZSTD_LEVEL: Final = 3
MANIFEST: Final = "manifest.json"
NAME_LENGTH: Final = 20


class DamagedShardError(RuntimeError):
    """A file that a manifest lists is missing or differs from its hash."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, moved onto it when the block ends well and removed when it does not.

    The bytes are on the disk (fsync) before the move, and the move before the block returns.
    `WriteRefusedError` where the disk is full or the folder may not be written to.
    """
    temporary = path.with_name(f".{path.name}.{writer_name()}.tmp")
    with refusals_explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            reached("begun", path)
            yield temporary
            reached("written", path)
            with temporary.open("rb") as handle:
                os.fsync(handle.fileno())
            temporary.replace(path)
            reached("moved", path)
            sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Has what came to and went from a folder on the disk before it returns."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_bytes(path: Path, content: bytes) -> None:
    """`content` at `path`, all of it or nothing."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_shard(folder: Path, frame: pl.DataFrame, table: str | None = None) -> dict[str, Any]:
    """`frame` as one shard in `folder`, named by its bytes; what the manifest says of it.

    With `table`, the frame is first brought into that table's column and row order. A shard that is already
    there is left alone: same name, same bytes.
    """
    stored = arrange(table, frame) if table else frame
    with refusals_explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".draft.{writer_name()}.tmp"
    try:
        with refusals_explained(draft):
            stored.write_parquet(
                draft,
                compression="zstd",
                compression_level=ZSTD_LEVEL,
                row_group_size=ROW_GROUP,
                statistics=True,
            )
            reached("drafted", draft)
        digest = file_digest(draft)
        path = folder / f"{digest[:NAME_LENGTH]}.parquet"
        if not (path.exists() and file_digest(path) == digest):
            with replacing(path) as temporary:
                draft.replace(temporary)
    finally:
        draft.unlink(missing_ok=True)
    return {"file": path.name, "sha256": digest, "rows": stored.height}


def write_manifest(folder: Path, content: dict[str, Any]) -> None:
    """Commits a folder of shards."""
    write_bytes(folder / MANIFEST, orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder of shards; None when nothing was committed there."""
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        content: dict[str, Any] = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise DamagedShardError(f"{path} is not valid JSON: {error}") from error
    return content


def verify_file(path: Path, sha256: str) -> None:
    """Raises `DamagedShardError` unless the file is there and has this hash."""
    if not path.exists():
        raise DamagedShardError(f"{path} is missing")
    found = file_digest(path)
    if found != sha256:
        raise DamagedShardError(f"{path} is damaged: sha256 {found[:12]}…, expected {sha256[:12]}…")
