"""MineRL data set folders: `rendered.npz`, one array per observation or action over the steps, beside
`metadata.json`. One folder is one episode with one attempt.

There is one state more than there are actions: row i is the state before action i, the last state has none.
Old data sets hold no position; it stays unknown. An array that needs unpickling is refused unread: a pickle
is a program. (The data set's JSON-lines form is that of `vpt`.)
"""

import re
import tomllib
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

from rollouts.ingest.protocol import Recording, Row, printable, quarantined
from rollouts.ingest.tick_columns import (
    CAMERA,
    EMPTY_HAND,
    LARGEST_COUNT,
    MOTION,
    NOOP,
    NOTHING,
    VITALS,
    Track,
    count,
    observed,
    plain,
)
from rollouts.ingest.tick_source import (
    Span,
    Task,
    any_file,
    assemble,
    file_size,
    files_below,
    inventory_gain,
    left_over,
    read_task,
)
from warehouse import vocabulary as v
from warehouse.domains import Domain
from warehouse.ids import derive_id, file_digest

FORMAT: Final = "minerl"
ARRAYS: Final = "rendered.npz"
METADATA: Final = "metadata.json"
LARGEST_ARRAY: Final = 1 << 30
"""bytes; 18,000 steps of the widest array take 1 MB, so a larger one is not of this format"""
LARGEST_METADATA: Final = 1 << 20
_ENVIRONMENT = re.compile(r"^MineRL(?P<task>[A-Za-z]+?)(?:Dense|Extreme|VectorObf)*-v\d+$")
_OBTAIN = re.compile(r"^Obtain(?P<item>[A-Za-z]+)$")
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_PLACE: Final = {"x": "xpos", "y": "ypos", "z": "zpos", "yaw": "yaw", "pitch": "pitch"}
_VITAL: Final = {"health": "life", "hunger": "food"}

Array = npt.NDArray[Any]


class MineRLImporter:
    """Reads folders of MineRL's data sets."""

    name = FORMAT

    def recognises(self, folder: Path) -> bool:
        """Is there an archive of arrays named like this format's?"""
        return any_file(folder, (".npz",), _is_recording)

    def read(self, folder: Path, build: str, domain: Domain) -> Iterator[Recording]:
        """Every folder with an array file, by name; other files are listed as they come."""
        for path, relative in files_below(folder):
            if path.name == ARRAYS:
                yield _read_episode(folder, path, relative, build, domain)
            elif path.name != METADATA or not path.with_name(ARRAYS).is_file():
                yield left_over(path, relative, FORMAT)


class Loaded(NamedTuple):
    """The arrays that could be read, by name without ".npy", and what is wrong with the others."""

    arrays: dict[str, Array]
    faults: list[str]


def _is_recording(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return False
    return any(name.startswith(("action$", "observation$")) for name in names)


def load_arrays(path: Path) -> Loaded:
    """Every array of the archive that can be read without unpickling. Never raises on content."""
    arrays: dict[str, Array] = {}
    faults: list[str] = []
    try:
        with zipfile.ZipFile(path) as archive:
            members = sorted(archive.infolist(), key=lambda member: member.filename)
            for member in members:
                name = member.filename.removesuffix(".npy")
                if member.file_size > LARGEST_ARRAY:
                    faults.append(
                        f"{name}: {member.file_size} bytes are more than an array of this format has"
                    )
                    continue
                try:
                    with archive.open(member) as handle:
                        array = np.lib.format.read_array(handle, allow_pickle=False)
                # The decoders of zip, zlib and numpy raise what they like on damaged bytes; whatever it is
                # becomes the reason.
                except Exception as error:
                    faults.append(f"{name}: {error or type(error).__name__}")
                    continue
                if array.ndim == 0:
                    faults.append(f"{name}: a single value, not one a step")
                else:
                    arrays[name] = array
    except Exception as error:  # as above: the archive's own directory
        faults.append(f"not an archive of arrays: {error or type(error).__name__}")
    return Loaded(arrays, faults)


def _read_episode(folder: Path, path: Path, relative: str, build: str, domain: Domain) -> Recording:
    size = file_size(path)
    loaded = load_arrays(path) if size != 0 else Loaded({}, ["empty file"])
    seen = {_short(name): array for name, array in loaded.arrays.items() if name.startswith("observation")}
    acted = {_short(name): array for name, array in loaded.arrays.items() if name.startswith("action")}
    rows = max((len(array) for array in (*seen.values(), *acted.values())), default=0)
    faults = list(loaded.faults)
    if not rows and not faults:
        faults.append("another format: no observation and no action in it")
    faults += [
        f"observation {name}: {len(array)} of {rows} steps"
        for name, array in sorted(seen.items())
        if len(array) < rows - 1
    ]
    kept = len(loaded.arrays) if rows else 0
    quarantine = [quarantined(relative, FORMAT, fault, kept=kept, size=size) for fault in faults]
    metadata, problem = _read_metadata(path.with_name(METADATA))
    if problem:
        beside = relative.removesuffix(ARRAYS) + METADATA
        quarantine.append(quarantined(beside, FORMAT, problem))
    if not rows:
        return Recording(quarantine=quarantine)

    track = _track(seen, acted, loaded.arrays.get("reward"), rows)
    duration = count(metadata.get("duration_steps"))
    if duration is not None and duration + 1 < rows:
        track.ends.append((duration, "the last step by its own metadata"))
    source = printable(relative)
    hashes = [file_digest(path), *([] if problem else [file_digest(path.with_name(METADATA))])]
    task = _task([*Path(folder.name).parts, *Path(relative).parts], domain)
    label = metadata.get("success")
    stream = metadata.get("stream_name")
    episode: Row = {
        "episode_id": derive_id("episode", [FORMAT, source, *hashes]),
        "source": f"{FORMAT}:{source}",
        "build": build,
        "world": FORMAT,
        "agent": printable(stream) if isinstance(stream, str) else None,
    }
    # An item that the data set does not list shows no gain, which is no failure.
    listed = frozenset(plain(name.partition("$")[2]) for name in seen if name.startswith("inventory$"))
    accepts = listed & (task.accepts | _old_names(task.target))
    said = label if isinstance(label, bool) else None
    recording = _one_attempt(track, task, accepts, episode, source, said)
    recording.quarantine = quarantine
    return recording


def _short(name: str) -> str:
    """ "observation$equipped_items.mainhand.type" and its later spelling with "$" alike, less the prefix."""
    return name.replace(".", "$").partition("$")[2]


def _read_metadata(path: Path) -> tuple[dict[str, Any], str | None]:
    try:
        if path.stat().st_size > LARGEST_METADATA:
            return {}, "another format: too large for metadata"
        content = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return {}, "missing: the episode is kept without its label"
    except (OSError, orjson.JSONDecodeError) as error:
        return {}, f"cannot be read: {error}"
    return (content, None) if isinstance(content, dict) else ({}, "another format: not an object")


def _track(seen: dict[str, Array], acted: dict[str, Array], reward: Array | None, rows: int) -> Track:
    columns: dict[str, pl.Series] = {"tick": pl.Series(np.arange(rows, dtype=np.int32))}
    for name in MOTION:
        columns[name] = _numbers(_first(seen, f"location_stats${_PLACE[name]}", _PLACE[name]), rows)
    for name in VITALS:
        columns[name] = _numbers(_first(seen, f"life_stats${_VITAL[name]}"), rows)
    alive = _numbers(_first(seen, "life_stats$is_alive"), rows)
    columns["alive"] = (alive != 0) if alive.null_count() < rows else (columns["health"] > 0)
    columns["equipped"] = _words(_first(seen, "equipped_items$mainhand$type"), rows)
    opened = _numbers(_first(seen, "isGuiOpen", "is_gui_open"), rows)
    columns["gui"] = (
        pl.select(
            pl.when(opened.is_null())
            .then(None)
            .when(opened != 0)
            .then(pl.lit("other"))
            .otherwise(pl.lit("none"))
        )
        .to_series()
        .cast(pl.Enum(list(v.GUIS)))
    )
    columns["action"] = _actions(acted, rows)
    ticks = pl.DataFrame(columns)
    inventories = _inventories(seen, rows)
    dead = (~ticks["alive"]).fill_null(False)
    deaths = (dead & ~dead.shift(1, fill_value=False)).arg_true().to_list()
    return Track(
        ticks,
        inventories=inventories,
        deaths=deaths,
        rewards=_rewards(reward, rows),
        observes=observed(ticks, {"inventory": bool(inventories)}),
    )


def _first(arrays: dict[str, Array], *names: str) -> Array | None:
    return next((arrays[name] for name in names if name in arrays), None)


def _numbers(array: Array | None, rows: int) -> pl.Series:
    """One number a row; null where there is none, where the array ends early, and where it is no number."""
    if array is None or array.dtype.kind not in "biuf" or array.size != len(array):
        return pl.Series([None] * rows, dtype=pl.Float64)
    values = array.reshape(len(array)).astype(np.float64)
    return pl.Series(values).extend_constant(None, rows - len(values))


def _words(array: Array | None, rows: int) -> pl.Series:
    """One name a row. Old data sets have numbers, whose table they lack: null."""
    if array is None or array.dtype.kind not in "US" or array.size != len(array):
        return pl.Series([None] * rows, dtype=pl.String)
    names = _text(array)
    words = [EMPTY_HAND if name in NOTHING else plain(name) for name in names]
    return pl.Series(words, dtype=pl.String).extend_constant(None, rows - len(words))


def _text(array: Array) -> list[str]:
    raw = array.reshape(len(array)).tolist()
    return [printable(one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one)) for one in raw]


def _actions(acted: dict[str, Array], rows: int) -> pl.Series:
    """Inputs by row. What is a choice ("craft") is written with what was chosen, as the data set names or
    numbers it."""
    known = max((len(array) for array in acted.values()), default=0)
    table = {
        name: chosen.extend_constant(None, known - len(chosen))
        for name in sorted(acted)
        if (chosen := _input(name, acted[name])) is not None
    }
    if not table:
        return pl.Series([None] * rows, dtype=pl.String)
    together = pl.concat_str(pl.col(list(table)), separator="+", ignore_nulls=True)
    joined = pl.DataFrame(table).select(together.replace("", NOOP)).to_series()
    return joined.extend_constant(None, rows - len(joined))


def _input(name: str, array: Array) -> pl.Series | None:
    """The input's name where it was pressed, else null; None for an array that is no input."""
    if array.dtype.kind in "US" and array.size == len(array):
        words = pl.Series(_text(array), dtype=pl.String)
        chosen = pl.when(~words.is_in(list(NOTHING))).then(pl.lit(f"{name}:") + words)
    elif array.dtype.kind in "biuf" and array.size:
        # A vector (the camera's two axes) is pressed when any part of it is.
        values = np.nan_to_num(array.reshape(len(array), -1).astype(np.float64))
        values = np.clip(values, -LARGEST_COUNT, LARGEST_COUNT)
        numbers = pl.Series(values[:, 0].astype(np.int64)).cast(pl.String)
        coded = name != CAMERA and bool(np.any(np.abs(values) > 1))
        label = pl.lit(f"{name}:") + numbers if coded else pl.lit(name)
        chosen = pl.when(pl.Series(np.any(values != 0, axis=1))).then(label)
    else:
        return None
    return pl.select(chosen).to_series()


def _inventories(seen: dict[str, Array], rows: int) -> list[tuple[int, dict[str, int]]]:
    """The inventory where it changes: the items that the data set lists, and no others."""
    counts = {
        name.removeprefix("inventory$"): array
        for name, array in sorted(seen.items())
        if name.startswith("inventory$") and array.dtype.kind in "biuf" and array.size == len(array)
    }
    length = min((len(array) for array in counts.values()), default=0)
    if length == 0:
        return []
    table = np.stack([np.nan_to_num(array.reshape(len(array))[:length]) for array in counts.values()], axis=1)
    table = np.clip(table, 0, LARGEST_COUNT).astype(np.int64)
    changed = np.flatnonzero(np.any(table[1:] != table[:-1], axis=1)) + 1
    names = [plain(name) for name in counts]
    return [
        (int(row), {name: int(many) for name, many in zip(names, table[row], strict=True) if many})
        for row in [0, *changed.tolist()]
        if row < rows
    ]


def _rewards(reward: Array | None, rows: int) -> list[tuple[int, float]]:
    if reward is None or reward.dtype.kind not in "biuf" or reward.size != len(reward):
        return []
    values = np.nan_to_num(reward.reshape(len(reward)).astype(np.float64))
    # The reward of action i is for what it led to, the state of row i + 1.
    return [
        (min(row + 1, rows - 1), float(values[row])) for row in np.flatnonzero(values).tolist() if row < rows
    ]


@cache
def _known_tasks() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("minerl_tasks.toml").read_text(encoding="utf-8"))


def _task(parts: list[str], domain: Domain) -> Task:
    """The task of the nearest folder that is named like an environment."""
    match = next((found for part in reversed(parts) if (found := _ENVIRONMENT.match(part))), None)
    if match is None:
        return Task(None, None, None, frozenset())
    known = _known_tasks().get(match["task"])
    item = _OBTAIN.match(match["task"])
    if known is None and item is not None:
        thing = _CAPITAL.sub("_", item["item"]).lower()
        known = {"text": f"obtain {thing.replace('_', ' ')}", "verb": "obtain", "thing": thing, "needed": 1}
    if known is None:
        text = _CAPITAL.sub(" ", match["task"]).lower()
        return Task(text, None, None, frozenset())
    if "thing" not in known:
        return Task(known["text"], known.get("verb"), None, frozenset())
    task = read_task(known["verb"], known["thing"], domain, known["needed"])
    return Task(known["text"], task.kind, task.target, task.accepts, task.needed)


def _one_attempt(
    track: Track, task: Task, accepts: frozenset[str], episode: Row, source: str, label: bool | None
) -> Recording:
    last = track.ticks.height - 1
    needed = task.needed or 1
    gain = inventory_gain(track, accepts, (0, last), needed)
    success = None if gain is None else gain.many >= needed
    end = "success" if success else "death" if track.deaths else "agent_stopped"
    span = Span(
        0,
        last,
        end,
        kind=task.kind,
        target=task.target,
        condition=task.text,
        needed=task.needed,
        success=success,
        gained=gain.many if gain is not None else None,
        label=label,
    )
    episode |= {
        "goal": task.text,
        "success": success,
        "success_tick": track.ticks["tick"][gain.reached] if gain and gain.reached is not None else None,
        "end_reason": end if end != "agent_stopped" else "recording_end",
    }
    return assemble(track, episode, [span], source)


def _old_names(target: str | None) -> frozenset[str]:
    """The data set's name for all that is accepted: what older versions of the game called "log" is every log
    of this one."""
    if target is None or not target.startswith("#"):
        return frozenset()
    return frozenset({target.removeprefix("#").removesuffix("s")})
