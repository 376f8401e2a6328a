"""The rows of ticks as a world notes them cheaply: numbers in a sheet that goes on from step to step, texts
once for all ticks that they hold for. Columns are made when they are asked for.

A step of a world takes few ticks, and an attempt thousands of steps: an array a column and step would cost
more than the ticks themselves.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

NUMBERS: Final = ("x", "y", "z", "yaw", "pitch", "health", "hunger", "alive")
"""the rows of a sheet, by the contract's names; alive is 0 or 1 there"""
TEXTS: Final = ("equipped", "gui", "action")
COLUMNS: Final = NUMBERS + TEXTS
_ROW: Final = {name: row for row, name in enumerate(NUMBERS)}
Sheet = npt.NDArray[np.float32]
Texts = tuple[str, str, str]
"""the values of `TEXTS`"""


class Stretch(NamedTuple):
    """Ticks under the same inputs: columns `first` to `end` (left out) of a sheet with a row per number."""

    sheet: Sheet
    first: int
    end: int
    texts: Texts
    last: Texts
    """the texts at the last tick, which what followed it may have changed"""


class TickRows(Mapping[str, npt.NDArray[Any]]):
    """The columns of some stretches, one after the other; `stretches` holds one at least."""

    __slots__ = ("stretches",)

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self.stretches = stretches

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        row = _ROW.get(name)
        if row is None:
            if name not in TEXTS:
                raise KeyError(name)
            texts, codes = coded(self.stretches, name)
            return np.array(texts, dtype=object)[codes]
        if len(self.stretches) == 1:
            sheet, first, end, _, _ = self.stretches[0]
            numbers = sheet[row, first:end]
        else:
            numbers = np.concatenate([sheet[row, first:end] for sheet, first, end, _, _ in self.stretches])
        return numbers > 0 if name == "alive" else numbers

    def __iter__(self) -> Iterator[str]:
        return iter(COLUMNS)

    def __len__(self) -> int:
        return len(COLUMNS)

    @property
    def height(self) -> int:
        """How many ticks there are."""
        return sum(end - first for _, first, end, _, _ in self.stretches)


def numbers_of(stretches: Iterable[Stretch]) -> Sheet:
    """The numbers of all ticks, a row per name of `NUMBERS`. Stretches that go on where the one before ended
    are copied together."""
    runs: list[list[Any]] = []
    for sheet, first, end, _, _ in stretches:
        if runs and runs[-1][0] is sheet and runs[-1][2] == first:
            runs[-1][2] = end
        else:
            runs.append([sheet, first, end])
    return np.concatenate([sheet[:, first:end] for sheet, first, end in runs], axis=1)


def coded(stretches: Iterable[Stretch], name: str) -> tuple[list[str], npt.NDArray[np.intp]]:
    """The texts of a column of `TEXTS`, each once, and which of them every tick has."""
    column = TEXTS.index(name)
    known: dict[str, int] = {}
    codes: list[int] = []
    counts: list[int] = []
    for _, first, end, texts, last in stretches:
        text = texts[column]
        code = known.setdefault(text, len(known))
        n = end - first
        if last is not texts and last[column] != text:
            codes += (code, known.setdefault(last[column], len(known)))
            counts += (n - 1, 1)
        else:
            codes.append(code)
            counts.append(n)
    return list(known), np.repeat(codes, counts)
