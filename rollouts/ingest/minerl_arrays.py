"""The arrays of a MineRL archive: which can be read, and which of their values cannot."""

import zipfile
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from rollouts.ingest.tick_columns import LARGEST_COUNT, LARGEST_FLOAT, times

LARGEST_ARRAY: Final = 1 << 30
"""bytes; 18,000 steps of the widest array take 1 MB, so a larger one is not of this format"""
_PLACE: Final = ("xpos", "ypos", "zpos", "yaw", "pitch")
_NUMBERS: Final = frozenset(
    {
        *_PLACE,
        *(f"location_stats${name}" for name in _PLACE),
        *(f"life_stats${name}" for name in ("life", "food", "is_alive")),
        "isGuiOpen",
        "is_gui_open",
    }
)
_INPUTS: Final = "biufUS"  # kinds of NumPy: numbers and words

Array = npt.NDArray[Any]


class Loaded(NamedTuple):
    """The arrays that could be read, by name without ".npy", and what is wrong with the others."""

    arrays: dict[str, Array]
    faults: list[str]


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


def has_numbers(array: Array) -> bool:
    """Does it hold one number a step?"""
    return array.dtype.kind in "biuf" and array.size == len(array)


def flat(array: Array) -> Array:
    """One float a step, of an array that `has_numbers`."""
    return array.reshape(len(array)).astype(np.float64)


def unfit(array: Array, *, counts: bool = False) -> Array:
    """Where an array of numbers has one that is none, or that no store holds; `counts`: or no whole number of
    things."""
    with np.errstate(invalid="ignore"):
        values = flat(array)
        wrong = ~(np.abs(values) <= LARGEST_FLOAT)
        if counts:
            wrong |= (values < 0) | (values > LARGEST_COUNT) | (values != np.floor(values))
    return np.asarray(wrong)


def unread(seen: dict[str, Array], acted: dict[str, Array], reward: Array | None) -> list[str]:
    """What cannot be read of arrays that are there; it is taken as unknown."""
    faults = []
    arrays = [(f"observation {name}", array) for name, array in sorted(seen.items()) if _is_number(name)]
    for name, array in [*arrays, *([("reward", reward)] if reward is not None else [])]:
        if not has_numbers(array):
            faults.append(f"{name}: not one number a step, but {array.dtype} of shape {array.shape}")
            continue
        wrong = unfit(array, counts=name.startswith("observation inventory$"))
        if wrong.any():
            faults.append(_values_unread(name, wrong))
    for name, array in sorted(acted.items()):
        if array.dtype.kind not in _INPUTS:
            faults.append(f"action {name}: no input, but {array.dtype} of shape {array.shape}")
        elif array.dtype.kind == "f" and array.size:
            wrong = ~np.isfinite(array.reshape(len(array), -1)).all(axis=1)
            if wrong.any():
                faults.append(_values_unread(f"action {name}", wrong))
    return faults


def _is_number(name: str) -> bool:
    return name.startswith("inventory$") or name in _NUMBERS


def _values_unread(name: str, wrong: Array) -> str:
    first = int(np.flatnonzero(wrong)[0])
    many = times(int(wrong.sum()))
    return f"{name}: cannot be read {many}, taken as unknown there; the first at step {first}"
