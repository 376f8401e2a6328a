"""The arrays of a MineRL archive: which can be read, and which of their values cannot."""

import io
import math
import sys
import zipfile
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from rollouts.ingest.tick_columns import LARGEST_COUNT, LARGEST_FLOAT, times

LARGEST_ARCHIVE: Final = 1 << 28
"""bytes of all arrays of one archive, unpacked; 18,000 steps of the widest array take 1 MB"""
MOST_ARRAYS: Final = 2000
"""arrays of one archive; the data sets have a hundred"""
_HEADERS: Final = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
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
    """Every array of the archive that can be read without unpickling. Never raises on content.

    What an archive says of its sizes is held against `LARGEST_ARCHIVE` before anything is unpacked, and what
    an array says of its own against the bytes that are there, so that a few bytes cannot ask for all memory.
    """
    arrays: dict[str, Array] = {}
    faults: list[str] = []
    left = LARGEST_ARCHIVE
    try:
        with zipfile.ZipFile(path) as archive:
            members = sorted(archive.infolist(), key=lambda member: member.filename)
            if len(members) > MOST_ARRAYS:
                faults.append(f"{len(members)} arrays, of which the first {MOST_ARRAYS} are read")
            for member in members[:MOST_ARRAYS]:
                name = member.filename.removesuffix(".npy")
                if member.file_size > left:
                    faults.append(f"{name}: not read, the arrays have more than {LARGEST_ARCHIVE} bytes")
                    continue
                left -= member.file_size
                try:
                    with archive.open(member) as handle:
                        array = _read_array(handle.read())
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


def _read_array(content: bytes) -> Array:
    """The array of an .npy file; `ValueError` for one that is larger than the file, or a pickle."""
    handle = io.BytesIO(content)
    version = np.lib.format.read_magic(handle)
    if version not in _HEADERS:
        raise ValueError(f"version {version} of the format, which no data set has")
    shape, _, dtype = _HEADERS[version](handle)
    if dtype.hasobject:
        raise ValueError("it would have to be unpickled, and a pickle is a program")
    # One of nothing may still claim any number of steps: more than it has bytes are too many.
    if max(math.prod(shape) * dtype.itemsize, *shape, 0) > len(content):
        raise ValueError(f"says that it has the shape {shape}, in {len(content)} bytes")
    handle.seek(0)
    array = np.lib.format.read_array(handle, allow_pickle=False)
    if dtype.kind == "U" and not _is_text(array):
        raise ValueError("text with characters that there are not")
    return array


def _is_text(array: Array) -> bool:
    """Does an array of text hold characters only? Python fails on other numbers whenever it looks at them."""
    codes = np.frombuffer(array.tobytes(), np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    return not ((codes > sys.maxunicode) | ((codes >= 0xD800) & (codes <= 0xDFFF))).any()


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
