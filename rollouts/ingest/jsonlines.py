"""JSON objects out of large files, one at a time: lines of a JSON-lines file, or elements of one list.

The file is read in pieces of 1 MiB and never held as a whole. What cannot be read is reported with its byte
offset and a reason, and everything else in the file is kept.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import orjson

from rollouts.ingest.protocol import Row, quarantined

LONGEST: Final = 16 << 20
"""bytes of one object: a tick is a few kB, so a longer one is another format or an attack on our memory"""
DEEPEST: Final = 250
"""objects and lists inside one another; a recorder has ten, and Python cannot compare a thousand"""
MOST_OBJECTS: Final = 1 << 21
"""objects of one file: 29 hours of ticks; what comes after is told and not read"""
MOST_FAULTS: Final = 200
"""faults told one by one; a file with more is summed up, so that noise cannot fill the quarantine"""
_PIECE: Final = 1 << 20
_BROKEN_HEAD: Final = 2  # a file whose first lines are damaged is still of its format
_BLANK: Final = b" \t\r\n"
_BOM: Final = b"\xef\xbb\xbf"
_MARK = re.compile(rb'["\\{}\[\]]')
_CONSTANTS: Final = (b"NaN", b"Infinity")


class Record(NamedTuple):
    """One object. `nth` counts broken ones too, so that two files written side by side stay in step."""

    nth: int
    offset: int
    value: dict[str, Any]


class Fault(NamedTuple):
    """A stretch of the file that could not be read, by its byte offset. `cut`: the file ends inside it."""

    offset: int
    reason: str
    cut: bool = False


class Piece(NamedTuple):
    """The bytes of one object; `whole` is false where the file ends before the object's end mark."""

    offset: int
    content: bytes
    whole: bool = True


class ObjectFile(ABC):
    """A file of JSON objects. Iterating yields `Record`s and fills `faults`; it never raises on content.

    `kept` counts the objects yielded, `size` is the number of bytes read, `truncated` tells that the file
    ends inside an object or a list; all are final once the iteration has ended.
    """

    def __init__(self, path: Path, longest: int = LONGEST) -> None:
        self.path = path
        self.longest = longest
        self.kept = 0
        self.size = 0
        self.truncated = False
        self.faults: list[Fault] = []
        self.untold = 0
        self.at_most: int | None = None  # bytes to read; None: all

    def __iter__(self) -> Iterator[Record]:
        self.kept, self.size, self.faults, self.untold, self.truncated = 0, 0, [], 0, False
        nth = 0
        try:
            with self.path.open("rb") as handle:
                for piece in self._pieces(handle):
                    if nth == MOST_OBJECTS:
                        self._note(Fault(piece.offset, f"not read from here on: over {nth} objects"))
                        break
                    read = piece if isinstance(piece, Fault) else _read(piece)
                    if isinstance(read, Fault):
                        self._note(read)
                    else:
                        self.kept += 1
                        yield Record(nth, piece.offset, read)
                    nth += 1
        except OSError as error:
            self._note(Fault(0, f"cannot be read: {error.strerror or error}"))

    @abstractmethod
    def _pieces(self, handle: BinaryIO) -> Iterator[Piece | Fault]:
        """The objects' bytes in the file's order, or what stands in an object's place."""

    def quarantine(self, path: str, source: str) -> list[Row]:
        """Quarantine rows for the iteration that has just ended: one for a file that gave nothing, else one
        for each fault. `path` is relative to the imported folder."""
        if self.kept == 0:
            first = self.faults[0] if self.faults else Fault(0, "empty file")
            known = first.reason.startswith(("empty", "cannot be read"))
            reason = first.reason if known else f"another format: no JSON object in it; {first.reason}"
            return [quarantined(path, source, reason, position=first.offset, size=self.size)]
        rows = [
            quarantined(path, source, fault.reason, position=fault.offset, kept=self.kept, size=self.size)
            for fault in self.faults
        ]
        if self.untold:
            reason = f"{self.untold} more stretches that cannot be read"
            rows.append(quarantined(path, source, reason, kept=self.kept, size=self.size))
        return rows

    def _note(self, fault: Fault) -> None:
        self.truncated = self.truncated or fault.cut
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(fault)
        else:
            self.untold += 1

    def _read_pieces(self, handle: BinaryIO) -> Iterator[bytes]:
        while piece := handle.read(_PIECE):
            if self.at_most is not None and self.size >= self.at_most:
                return
            if self.size == 0:
                # A byte order mark is not JSON; blanks in its place keep every offset as it is.
                piece = piece.replace(_BOM, b"   ", 1) if piece.startswith(_BOM) else piece
            self.size += len(piece)
            yield piece


class JsonLines(ObjectFile):
    """One object a line. A line may end in LF, CRLF or CR, mixed in one file; blank lines are skipped."""

    def _pieces(self, handle: BinaryIO) -> Iterator[Piece | Fault]:
        line = bytearray()
        start = length = 0
        for piece in self._read_pieces(handle):
            # A raw CR cannot stand inside a JSON string, so it can only end a line or be a blank.
            parts = piece.replace(b"\r", b"\n").split(b"\n")
            for number, part in enumerate(parts):
                length += len(part)
                if length <= self.longest:
                    line += part
                if number < len(parts) - 1:
                    yield from self._line(start, length, line, whole=True)
                    start += length + 1
                    length = 0
                    line.clear()
        yield from self._line(start, length, line, whole=False)

    def _line(self, start: int, length: int, line: bytearray, whole: bool) -> Iterator[Piece | Fault]:
        if length > self.longest:
            yield Fault(start, f"line of {length} bytes, longer than {self.longest}")
        elif line.strip(_BLANK):
            yield Piece(start, bytes(line), whole)


class JsonList(ObjectFile):
    """The elements of one list, as `json.dump` writes a recording; a list that breaks off keeps its head."""

    def _pieces(self, handle: BinaryIO) -> Iterator[Piece | Fault]:
        yield from _ListScan(self.longest).run(self._read_pieces(handle))


class _ListScan:
    """Finds the elements of a list by its brackets alone; whether an element is JSON is decided later.

    Positions are byte offsets in the file. `held` is the part from `base` on that is still needed.
    """

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.held = bytearray()
        self.base = 0
        self.depth = 0  # 0: outside the list, 1: between its elements
        self.in_string = False
        self.start = 0  # of the element in progress
        self.gap = 0  # where the last element ended
        self.skip = 0  # the byte after a backslash is no mark

    def run(self, pieces: Iterator[bytes]) -> Iterator[Piece | Fault]:
        opened = False
        for piece in pieces:
            self.held += piece
            if not opened:
                head = self.held.lstrip(_BLANK)
                if not head:
                    self._release(self.base + len(self.held))
                    continue
                if not head.startswith(b"["):
                    yield Fault(0, "not a JSON list")
                    return
                opened, self.depth = True, 1
                self.gap = self.base + len(self.held) - len(head) + 1
                self.skip = self.gap
            yield from self._scan(self.base + len(self.held) - len(piece))
            if self.depth == 0:
                yield from self._after(pieces)
                return
        end = self.base + len(self.held)
        if self.depth > 1:
            yield Fault(self.start, "truncated inside an element", cut=True)
        elif self.depth == 1:
            yield from self._between(end)
            yield Fault(end, "truncated: the list does not end", cut=True)

    def _scan(self, begin: int) -> Iterator[Piece | Fault]:
        marks = [
            (self.base + match.start(), match[0]) for match in _MARK.finditer(self.held, begin - self.base)
        ]
        for at, mark in marks:
            if at < self.skip:
                continue
            if self.in_string:
                if mark == b"\\":
                    self.skip = at + 2
                elif mark == b'"':
                    self.in_string = False
            elif mark == b'"':
                self.in_string = True
            elif mark in (b"{", b"["):
                if self.depth == 1:
                    yield from self._between(at)
                    self.start = at
                self.depth += 1
            elif mark in (b"}", b"]"):
                self.depth -= 1
                if self.depth == 1:
                    yield self._element(at + 1)
                    self.gap = at + 1
                elif self.depth == 0:
                    yield from self._between(at)
                    self.gap = at + 1
                    return
        # An element that has grown too long is only counted from here on, not held.
        self._release(self.gap if self.depth == 1 else self.start)
        if len(self.held) > self.longest:
            self._release(self.base + len(self.held))

    def _element(self, end: int) -> Piece | Fault:
        if end - self.start > self.longest or self.start < self.base:
            return Fault(self.start, f"element of {end - self.start} bytes, longer than {self.longest}")
        return Piece(self.start, bytes(self.held[self.start - self.base : end - self.base]))

    def _between(self, end: int) -> Iterator[Fault]:
        between = self.held[max(self.gap - self.base, 0) : end - self.base]
        if between.strip(_BLANK + b","):
            yield Fault(self.gap, "not an object")

    def _after(self, pieces: Iterator[bytes]) -> Iterator[Fault]:
        rest = self.held[self.gap - self.base :].strip(_BLANK + b"\0")
        if rest or any(piece.strip(_BLANK + b"\0") for piece in pieces):
            yield Fault(self.gap, "foreign content after the list")

    def _release(self, upto: int) -> None:
        drop = min(max(upto - self.base, 0), len(self.held))
        del self.held[:drop]
        self.base += drop


def open_objects(path: Path) -> ObjectFile:
    """The reader that fits the file's first byte: `[` begins a list, anything else is read as lines."""
    try:
        with path.open("rb") as handle:
            head = handle.read(4096).removeprefix(_BOM).lstrip(_BLANK)
    except OSError:
        head = b""
    return JsonList(path) if head.startswith(b"[") else JsonLines(path)


def first_object(path: Path) -> dict[str, Any] | None:
    """The first object of a file, if it is among the first things in it; None for another format. For
    telling formats apart: reads 1 MiB at most."""
    reader = open_objects(path)
    reader.at_most = _PIECE
    record = next(iter(reader), None)
    return record.value if record is not None and record.nth <= _BROKEN_HEAD else None


def _read(piece: Piece) -> dict[str, Any] | Fault:
    try:
        value = orjson.loads(piece.content)
    except orjson.JSONDecodeError as error:
        value = _read_constants(piece.content)
        if value is None:
            cut = not piece.whole and _unclosed(piece.content)
            return Fault(piece.offset, _reason(piece.content, error, cut), cut)
    if not isinstance(value, dict):
        return Fault(piece.offset, "not an object")
    if is_too_deep(value, piece.content):
        return Fault(piece.offset, f"nested deeper than {DEEPEST}")
    return value


def is_too_deep(value: Any, content: bytes | None = None) -> bool:
    """Is something nested deeper than `DEEPEST`? `content`, where it is at hand, mostly tells so at once."""
    if content is not None and content.count(b"{") + content.count(b"[") <= DEEPEST:
        return False
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _read_constants(content: bytes) -> Any:
    """Python writes NaN and Infinity, which are not JSON; they stay what they are, so that a reader can tell
    them from a value that was not recorded. None: it was not that."""
    if not any(constant in content for constant in _CONSTANTS):
        return None
    try:
        value = json.loads(content.decode("utf-8"), parse_constant=float)
        orjson.dumps(value)  # refuses what no store takes: half characters, numbers of more than 64 bits
    except (ValueError, TypeError, RecursionError):
        return None
    return value


def _unclosed(content: bytes) -> bool:
    """Does an object begin here that never ends? Foreign bytes after a whole recording are none."""
    if not content.lstrip(_BLANK).startswith(b"{"):
        return False
    depth, skip, in_string = 0, 0, False
    for match in _MARK.finditer(content):
        mark = match[0]
        if match.start() < skip:
            continue
        if in_string:
            if mark == b"\\":
                skip = match.start() + 2
            in_string = mark != b'"'
        elif mark == b'"':
            in_string = True
        else:
            depth += 1 if mark in (b"{", b"[") else -1
            if depth == 0:
                return False
    return True


def _reason(content: bytes, error: orjson.JSONDecodeError, cut: bool) -> str:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as wrong:
        if not cut or wrong.end < len(content):
            return f"invalid UTF-8 at byte {wrong.start} of the object"
    return f"{'truncated' if cut else 'broken'} JSON: {error}"
