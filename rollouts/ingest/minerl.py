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
from typing import Any, Final

import numpy as np
import orjson
import polars as pl

from rollouts.ingest.minerl_arrays import Array, Loaded, flat, has_numbers, load_arrays, unfit, unread
from rollouts.ingest.observations import observed
from rollouts.ingest.protocol import Recording, Row, printable, quarantined, spared
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
    plain,
)
from rollouts.ingest.tick_source import Task, inventory_gain, one_attempt, read_task
from rollouts.ingest.walk import any_file, file_size, files_below, left_over
from warehouse import vocabulary as v
from warehouse.domains import Domain
from warehouse.ids import derive_id, file_digest

FORMAT: Final = "minerl"
ARRAYS: Final = "rendered.npz"
METADATA: Final = "metadata.json"
LARGEST_METADATA: Final = 1 << 20
_ENVIRONMENT = re.compile(r"^MineRL(?P<task>[A-Za-z]+?)(?:Dense|Extreme|VectorObf)*-v\d+$")
_OBTAIN = re.compile(r"^Obtain(?P<item>[A-Za-z]+)$")
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_PLACE: Final = {"x": "xpos", "y": "ypos", "z": "zpos", "yaw": "yaw", "pitch": "pitch"}
_VITAL: Final = {"health": "life", "hunger": "food"}


class MineRLImporter:
    """Reads folders of MineRL's data sets."""

    name = FORMAT

    def recognises(self, folder: Path) -> bool:
        """Is there an archive of arrays named like this format's?"""
        return any_file(folder, (".npz",), _is_recording)

    def read(self, folder: Path, build: str, domain: Domain) -> Iterator[Recording]:
        """Every folder with an array file, by name; other files are listed as they come."""
        walk = files_below(folder)
        rest = Recording(quarantine=walk.quarantine(FORMAT))
        for relative, path in walk.named().items():
            if path.name == ARRAYS:
                yield spared(relative, FORMAT, _read_episode, folder, path, relative, build, domain)
            elif path.name != METADATA or not path.with_name(ARRAYS).is_file():
                rest.quarantine.append(left_over(path, relative, FORMAT))
        yield rest


def _is_recording(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return False
    return any(name.startswith(("action$", "observation$")) for name in names)


def _read_episode(folder: Path, path: Path, relative: str, build: str, domain: Domain) -> Recording:
    size = file_size(path)
    loaded = load_arrays(path) if size != 0 else Loaded({}, ["empty file"])
    seen = {_short(name): array for name, array in loaded.arrays.items() if name.startswith("observation")}
    acted = {_short(name): array for name, array in loaded.arrays.items() if name.startswith("action")}
    rows = max((len(array) for array in (*seen.values(), *acted.values())), default=0)
    faults = list(loaded.faults)
    if not rows and not faults:
        faults.append("another format: no observation and no action in it")
    states = max((len(array) for array in seen.values()), default=0)
    shortest = max(states, rows - 1)  # there is one state more than there are actions, in most data sets
    faults += [
        f"observation {name}: {len(array)} of {rows} steps"
        for name, array in sorted(seen.items())
        if len(array) < shortest
    ]
    faults += unread(seen, acted, loaded.arrays.get("reward"))
    kept = len(loaded.arrays) if rows else 0
    quarantine = [quarantined(relative, FORMAT, fault, kept=kept, size=size) for fault in faults]
    metadata, problem = _read_metadata(path.with_name(METADATA))
    beside = relative.removesuffix(ARRAYS) + METADATA
    if problem:
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
    if label is not None and not isinstance(label, bool):
        quarantine.append(quarantined(beside, FORMAT, "success: neither true nor false, taken as unknown"))
    stream = metadata.get("stream_name")
    episode: Row = {
        "episode_id": derive_id("episode", [FORMAT, source, *hashes]),
        "source": f"{FORMAT}:{source}",
        "build": build,
        "world": FORMAT,
        "agent": printable(stream) if isinstance(stream, str) else None,
    }
    # An item that the data set does not list shows no gain, which is no failure.
    listed = frozenset(plain(name) for name in _item_counts(seen))
    accepts = listed & (task.accepts | _old_names(task.target))
    needed = task.needed or 1
    gain = inventory_gain(track, accepts, (0, rows - 1), needed)
    success = None if gain is None else gain.many >= needed
    said = label if isinstance(label, bool) else None
    recording = one_attempt(track, task, gain, success, episode, source, label=said)
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
    if array is None or not has_numbers(array):
        return pl.Series([None] * rows, dtype=pl.Float64)
    values = pl.Series(flat(array)).set(pl.Series(unfit(array)), None)
    return values.extend_constant(None, rows - len(values))


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
        values = np.nan_to_num(array.reshape(len(array), -1).astype(np.float64))  # told by `unread`
        values = np.clip(values, -LARGEST_COUNT, LARGEST_COUNT)
        numbers = pl.Series(values[:, 0].astype(np.int64)).cast(pl.String)
        coded = name != CAMERA and bool(np.any(np.abs(values) > 1))
        label = pl.lit(f"{name}:") + numbers if coded else pl.lit(name)
        chosen = pl.when(pl.Series(np.any(values != 0, axis=1))).then(label)
    else:
        return None
    return pl.select(chosen).to_series()


def _item_counts(seen: dict[str, Array]) -> dict[str, Array]:
    """The inventory's arrays by item. One that is shorter than the others, or holds nothing that can be read,
    is left out: what it lacks is not known, and the others are."""
    counts = {
        name.removeprefix("inventory$"): array
        for name, array in sorted(seen.items())
        if name.startswith("inventory$") and has_numbers(array) and not unfit(array, counts=True).all()
    }
    longest = max((len(array) for array in counts.values()), default=0)
    return {name: array for name, array in counts.items() if len(array) == longest}


def _inventories(seen: dict[str, Array], rows: int) -> list[tuple[int, dict[str, int]]]:
    """The inventory where it changes: the items that the data set lists, and no others. At a step at which a
    count cannot be read the inventory is unknown, and the last known one stays."""
    counts = _item_counts(seen)
    if not counts:
        return []
    wrong = np.any([unfit(array, counts=True) for array in counts.values()], axis=0)
    known = np.flatnonzero(~wrong)
    if known.size == 0:
        return []
    table = np.stack([flat(array)[known] for array in counts.values()], axis=1).astype(np.int64)
    changed = np.flatnonzero(np.any(table[1:] != table[:-1], axis=1)) + 1
    names = [plain(name) for name in counts]
    return [
        (
            int(known[place]),
            {name: int(many) for name, many in zip(names, table[place], strict=True) if many},
        )
        for place in [0, *changed.tolist()]
        if known[place] < rows
    ]


def _rewards(reward: Array | None, rows: int) -> list[tuple[int, float]]:
    if reward is None or not has_numbers(reward):
        return []
    values = np.where(unfit(reward), 0, flat(reward))  # an unknown reward is no event
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


def _old_names(target: str | None) -> frozenset[str]:
    """The data set's name for all that is accepted: what older versions of the game called "log" is every log
    of this one."""
    if target is None or not target.startswith("#"):
        return frozenset()
    return frozenset({target.removeprefix("#").removesuffix("s")})
