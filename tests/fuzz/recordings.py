"""Recordings of every format: whatever lies in the folder, each file is read or told, and what is read keeps
the contract and can be judged."""

import io
import json
import struct
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from rollouts.ingest.importing import Import, Source, import_source
from rollouts.ingest.protocol import printable
from rollouts.ingest.registry import IMPORTERS
from rollouts.ingest.walk import files_below
from rollouts.monitor.feedback import monitor
from rollouts.sample import write_sample
from rollouts.trace import Trace
from tests.tick_files import action, info, slots, stats, vpt_line
from tests.voyager_files import event
from warehouse.domains import Domain, load_domain
from warehouse.records import TABLES
from warehouse.vocabulary import OBSERVABLES

SEPARATOR = b"\n\x1e\n"
_CAUGHT = "the importer failed"
"""how the last net says that it caught what no importer expects"""
_LONGEST = 1 << 20


@cache
def domain() -> Domain:
    """The domain that recordings are read in."""
    return load_domain("minecraft")


def imported(folder: Path, name: str) -> Import:
    """The folder, read as `name`; fails where something is lost, breaks the contract or cannot be judged."""
    found = import_source(Source("fuzzed", folder, IMPORTERS[name]), "b1", domain())
    for table, frame in found.frames.items():
        _, broken = TABLES[table].schema.filter(frame)
        assert not broken.counts(), (table, broken.counts())
    told = found.frames["quarantine"].select("path", "reason").rows()
    surprises = [row for row in told if row[1].startswith(_CAUGHT)]
    assert not surprises, surprises
    texts = [text for row in told for text in row]
    assert all(text.isprintable() for text in texts), texts
    walk = files_below(folder)
    kept = set(found.frames["attempts"]["source"].drop_nulls()) | {
        source.partition(":")[2] for source in found.frames["episodes"]["source"].drop_nulls()
    }
    accounted = kept | {path for path, _ in told}
    lost = [path for path in map(printable, walk.named()) if not _accounted(path, accounted, name)]
    assert not lost, (lost, told)
    trace = Trace.of({table: found.frames[table] for table in found.frames if table in TABLES})
    feedback = monitor(trace, domain())
    key = ["episode_id", "attempt"]
    assert feedback.select(key).sort(key).equals(found.frames["attempts"].select(key).sort(key))
    observed = found.frames["episodes"]["observes"].explode().drop_nulls()
    assert set(observed.cast(pl.String)) <= set(OBSERVABLES)
    return found


def _accounted(relative: str, accounted: set[str], name: str) -> bool:
    if relative in accounted or name == "native":
        return True
    # What stands beside a recording is a part of it: its actions, its metadata.
    beside = relative.replace("action.", "info.").replace("metadata.json", "rendered.npz")
    return beside in accounted


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


# --- Voyager


def voyager(data: bytes, folder: Path) -> None:
    """Event files side by side, the first bytes of each being its task."""
    for number, part in enumerate(data[:_LONGEST].split(SEPARATOR)[:4]):
        task, _, content = part.partition(b"\n")
        words = "".join(char for char in task.decode("utf-8", "replace") if char not in "/\0")[:60]
        _write(folder / "ckpt" / "events" / f"{words or 'Mine 1 log'}_20240101_00000{number}", content)
    _write(folder / "ckpt" / "curriculum" / "completed_tasks.json", data[:200])
    imported(folder, "voyager")


def voyager_seeds() -> list[bytes]:
    """An attempt that ends well, one that is refused, and one with an error."""
    done = [
        event("onChat", 5, "Mining 1 oak log", {"dirt": 1}),
        event("onChat", 40, "Mined 1 oak_log", {"oak_log": 1}),
        event("observe", 60, None, {"oak_log": 1}, entities={"cow": 4.5}, voxels=["stone", "iron_ore"]),
    ]
    refused = [
        event("onChat", 9, "I cannot make stone_axe because I need: 2 more stick, 1 more cobblestone, "),
        event("onError", 9, "TypeError: Cannot read properties of undefined (reading 'id') at line 3"),
        event("observe", 30, None, {"oak_log": 1}),
    ]
    first = b"Mine 1 oak log\n" + json.dumps(done).encode()
    second = b"Craft 1 stone axe\n" + json.dumps(refused).encode()
    return [first, second, first + SEPARATOR + second, second + SEPARATOR + first[:200]]


# --- MineStudio


def minestudio(data: bytes, folder: Path) -> None:
    """A rollout: observations and actions, as lines or as a list."""
    infos, _, actions = data[:_LONGEST].partition(SEPARATOR)
    ending = "json" if infos.lstrip().startswith(b"[") else "jsonl"
    _write(folder / "craft_item:stick" / f"info.{ending}", infos)
    if actions:
        _write(folder / "craft_item:stick" / f"action.{ending}", actions)
    imported(folder, "minestudio")


def minestudio_seeds() -> list[bytes]:
    """Four ticks, in both forms."""
    infos = [
        info(0.5),
        info(1.5, gui=True, inventory=slots(oak_planks=2), craft_item={"stick": 0}),
        info(1.5, gui=True, inventory=slots(stick=4), craft_item={"stick": 4}, message={"bot": "hello"}),
        info(2.5, health=0.0, stats=stats(craft_item__stick=4), is_gui_open=False),
    ]
    actions = [action("inventory"), action("attack", camera=(1.0, -2.0)), {"buttons": [3], "camera": [5]}]
    lines = b"\n".join(json.dumps(row).encode() for row in infos)
    acted = b"\n".join(json.dumps(row).encode() for row in actions)
    return [lines + SEPARATOR + acted, json.dumps(infos).encode() + SEPARATOR + json.dumps(actions).encode()]


# --- VPT


def vpt(data: bytes, folder: Path) -> None:
    """A contractor's recording."""
    _write(folder / "recording.jsonl", data[:_LONGEST])
    found = imported(folder, "vpt")
    lines = [
        line for line in data[:_LONGEST].replace(b"\r", b"\n").split(b"\n") if line.strip(b" \t\xef\xbb\xbf")
    ]
    assert found.frames["ticks"].height <= len(lines)
    assert not lines or found.frames["ticks"].height or found.frames["quarantine"].height


def vpt_seeds() -> list[bytes]:
    """A few ticks in which something is mined and crafted."""
    rows = [
        vpt_line(0, keys=("w",), inventory=[{"type": "oak_log", "quantity": 1}]),
        vpt_line(1, buttons=(0,), dx=3.5, stats=stats(mine_block__oak_log=1)),
        vpt_line(2, isGuiOpen=True, stats=stats(mine_block__oak_log=1, craft_item__oak_planks=4)),
        vpt_line(3, stats=stats(craft_item__oak_planks=4), inventory=[{"type": "oak_planks", "quantity": 4}]),
    ]
    lines = [json.dumps(row).encode() for row in rows]
    return [
        b"\n".join(lines),
        b"\r\n".join(lines[::-1]),
        b"\xef\xbb\xbf" + lines[0] + b"\n{broken\n" + lines[1],
    ]


# --- MineRL


def minerl(data: bytes, folder: Path) -> None:
    """Arrays of an archive, one after the other: a name, a length, the bytes of an .npy file; the archive
    itself is whole."""
    path = folder / "MineRLObtainDiamond-v0" / "run" / "rendered.npz"
    path.parent.mkdir(parents=True)
    parts = data[:_LONGEST].split(SEPARATOR)
    with zipfile.ZipFile(path, "w") as archive:
        for number, part in enumerate(parts[1:9]):
            name = _ARRAYS[part[0] % len(_ARRAYS)] if part else f"empty{number}"
            archive.writestr(f"{number if name in archive.namelist() else ''}{name}.npy", part[1:])
    _write(path.with_name("metadata.json"), parts[0])
    imported(folder, "minerl")


_ARRAYS = (
    "observation$inventory$dirt",
    "observation$inventory$log",
    "observation$equipped_items$mainhand$type",
    "observation$location_stats$xpos",
    "observation$life_stats$life",
    "action$camera",
    "action$craft",
    "action$attack",
    "reward",
    "observation$isGuiOpen",
)


def minerl_seeds() -> list[bytes]:
    """Three steps."""
    arrays = {
        0: np.array([0, 1, 1], np.int64),
        2: np.array(["air", "stone_pickaxe", "none"]),
        3: np.array([0.5, 1.5, 2.5], np.float32),
        5: np.array([[0.0, 1.0], [0.0, 0.0]], np.float32),
        6: np.array(["none", "torch"]),
        8: np.array([0.0, 1.0], np.float64),
    }
    parts = [b'{"success": true, "duration_steps": 2, "stream_name": "a"}']
    parts += [bytes([number]) + _npy(array) for number, array in arrays.items()]
    huge = struct.pack("<8sH", b"\x93NUMPY\x01\x00", 118) + (
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(117) + b"\n"
    )
    empty = huge.replace(b"(1000000000000,)", b"(100000000000,0)")
    return [SEPARATOR.join(parts), SEPARATOR.join([b"{}", b"\x00" + huge, b"\x03" + empty])]


def _npy(array: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]") -> bytes:
    written = io.BytesIO()
    np.save(written, array, allow_pickle=False)
    return written.getvalue()


def minerl_archive(data: bytes, folder: Path) -> None:
    """Any bytes as an archive of arrays."""
    _write(folder / "rendered.npz", data[:_LONGEST])
    imported(folder, "minerl")


def minerl_archive_seeds() -> list[bytes]:
    """A small archive, stored and deflated."""
    arrays = {"observation$inventory$dirt": np.array([0, 1]), "action$attack": np.array([1])}
    kept, small = io.BytesIO(), io.BytesIO()
    np.savez(kept, **arrays)
    np.savez_compressed(small, **arrays)
    return [kept.getvalue(), small.getvalue()]


# --- our own tables


@cache
def _sample() -> dict[str, bytes]:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        write_sample(Path(folder) / "sample")
        return {path.name: path.read_bytes() for path in sorted((Path(folder) / "sample").glob("*.parquet"))}


def native(data: bytes, folder: Path) -> None:
    """One table of the sample has other bytes, the rest is whole."""
    names = sorted(_sample())
    changed = names[data[0] % len(names)] if data else names[0]
    for name, content in _sample().items():
        _write(folder / name, data[1:_LONGEST] if name == changed else content)
    imported(folder, "native")


def native_seeds() -> list[bytes]:
    """A few rows of each table."""
    found = []
    for number, (_, content) in enumerate(sorted(_sample().items())):
        written = io.BytesIO()
        pl.read_parquet(io.BytesIO(content)).head(3).write_parquet(written, compression="uncompressed")
        found.append(bytes([number]) + written.getvalue())
    return found
