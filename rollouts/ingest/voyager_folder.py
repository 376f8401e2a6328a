"""The files of a Voyager checkpoint folder: event files in time order, labels, and everything else."""

import re
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeGuard

from rollouts.ingest.json_pairs import AFTER_THE_LIST, Salvage, locate, read_list
from rollouts.ingest.jsonlines import DEEPEST, MOST_FAULTS, is_too_deep
from rollouts.ingest.protocol import Row, printable, quarantined
from rollouts.ingest.task_text import tidy
from rollouts.ingest.walk import file_size, files_below

FORMAT: Final = "voyager"
_STAMPED = re.compile(r"^(?P<task>.*)_(?P<stamp>\d{8}_\d{6})(?:\.json)?$", re.DOTALL)
_SIDE_FILE = re.compile(
    r"(?:^|/)(?:LICEN[CS]E|README|NOTICE|COPYING|\.git|\.DS_Store)|(?:^|/)(?:action|skill|vectordb)/|_cache\.json$",
    re.IGNORECASE,
)
_LABELS = re.compile(r"(?:^|/)curriculum/(?:completed|failed)_tasks\.json$")
_PROBES: Final = 200
LARGEST_COUNT: Final = 2**31 - 1  # of the contract's counts
FARTHEST: Final = 3.2e7  # blocks


class Pair(NamedTuple):
    """One recorded event: its name ("onChat", "onError", "onSave", "observe") and its observation."""

    name: str
    body: dict[str, Any]

    @property
    def status(self) -> dict[str, Any]:
        status = self.body.get("status")
        return status if isinstance(status, dict) else {}

    @property
    def elapsed(self) -> int | None:
        """Ticks since the attempt began."""
        value = self.status.get("elapsedTime")
        return int(value) if is_number(value) and 0 <= value <= LARGEST_COUNT else None

    @property
    def inventory(self) -> dict[str, int] | None:
        """Item -> count; None where the observation has none that can be read as a whole."""
        value = self.body.get("inventory")
        if not isinstance(value, dict) or any(not _is_count(count) for count in value.values()):
            return None
        return {str(item): int(count) for item, count in sorted(value.items()) if count}


def is_number(value: Any) -> TypeGuard[float]:
    """Is a JSON value a finite number?"""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_count(value: Any) -> TypeGuard[float]:
    return is_number(value) and 0 <= value <= LARGEST_COUNT and value == int(value)


@dataclass
class EventFile:
    """One event file: its task, its time stamp, its readable events and what was wrong with it."""

    path: Path
    relative: str
    task: str
    stamp: str
    pairs: list[Pair] = field(default_factory=list)
    quarantine: list[Row] = field(default_factory=list)
    broken: bool = False
    size: int = 0


def is_event_list(path: Path) -> bool:
    """Does the file begin like a list of [event, observation] pairs, or is it an empty one?"""
    try:
        with path.open("rb") as handle:
            head = handle.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    except OSError:
        return False
    return bool(re.match(rb'\[\s*(?:\]\s*$|\[\s*"(?:on[A-Z]\w*|observe)"\s*,\s*\{)', head))


def recognises(folder: Path) -> bool:
    """Is there a time-stamped file that begins like an event list?"""
    probed = 0
    for path in files_below(folder).files:
        if _STAMPED.match(path.name):
            if is_event_list(path):
                return True
            probed += 1
            if probed >= _PROBES:
                return False
    return False


def read_folder(folder: Path) -> tuple[list[EventFile], list[Row]]:
    """The event files in the order (run folder, time stamp, name), and rows for all other files."""
    events: list[EventFile] = []
    walk = files_below(folder)
    rows: list[Row] = walk.quarantine(FORMAT)
    for path in walk.files:
        relative = relative_name(path, folder)
        match = _STAMPED.match(path.name)
        if match:
            events.append(_spared_file(path, relative, match["task"], match["stamp"]))
        elif _LABELS.search(relative):
            continue  # read_labels reads them, and says what is wrong with them
        elif _SIDE_FILE.search(relative):
            rows.append(
                quarantined(relative, FORMAT, "known side file", ignored=True, size=path.stat().st_size)
            )
        else:
            rows.append(_foreign(path, relative))
    events.sort(key=lambda file: (file.path.parent.as_posix(), file.stamp, file.relative))
    return events, rows


def _foreign(path: Path, relative: str) -> Row:
    reason = (
        "events without a time stamp in the file name cannot be put in order"
        if is_event_list(path)
        else "another format: not an event file of this format"
    )
    return quarantined(relative, FORMAT, reason, position=0, size=path.stat().st_size)


def _spared_file(path: Path, relative: str, task: str, stamp: str) -> EventFile:
    """The file, or what nobody thought of as its quarantine row: see `protocol.spared`."""
    try:
        return _read_file(path, relative, task, stamp)
    except Exception as error:
        reason = f"the importer failed on this file: {type(error).__name__}: {error}"
        row = quarantined(relative, FORMAT, reason, size=file_size(path))
        return EventFile(path, relative, tidy(task), stamp, quarantine=[row], broken=True)


def _read_file(path: Path, relative: str, task: str, stamp: str) -> EventFile:
    salvage = read_list(path)
    file = EventFile(path, relative, tidy(task), stamp, size=salvage.size)
    bad: list[tuple[int, str]] = []
    for index, (offset, element) in enumerate(salvage.elements):
        problem = _problem(element)
        place = offset if offset >= 0 else index
        if problem is None:
            pair = Pair(element[0], element[1])
            file.pairs.append(pair)
            bad += [(place, oddity) for oddity in _oddities(pair)]
        else:
            bad.append((place, problem))
    if bad and salvage.reason is None:
        offsets = locate(path)
        bad = [(offsets[index], problem) for index, problem in bad]
    for offset, problem in bad[:MOST_FAULTS]:
        file.quarantine.append(_row(file, salvage, problem, offset))
    if len(bad) > MOST_FAULTS:
        file.quarantine.append(_row(file, salvage, f"{len(bad) - MOST_FAULTS} more faults", None))
    if salvage.reason is not None:
        # Foreign bytes behind a whole list take nothing away from the attempt.
        file.broken = salvage.reason != AFTER_THE_LIST
        file.quarantine.append(_row(file, salvage, salvage.reason, salvage.broken_at))
    return file


def _row(file: EventFile, salvage: Salvage, reason: str, position: int | None) -> Row:
    return quarantined(
        file.relative, FORMAT, reason, position=position, kept=len(file.pairs), size=salvage.size
    )


def _problem(element: Any) -> str | None:
    if not (isinstance(element, list) and len(element) == 2):
        return "not an [event, observation] pair"
    if is_too_deep(element):
        return f"nested deeper than {DEEPEST}"
    name, body = element
    if not isinstance(name, str) or not isinstance(body, dict):
        return "not an [event, observation] pair"
    if not isinstance(body.get("status"), dict):
        return "an observation without a status"
    elapsed = body["status"].get("elapsedTime")
    if not is_number(elapsed) or not 0 <= elapsed <= LARGEST_COUNT:
        return "an observation without a readable elapsed time"
    return None


def _oddities(pair: Pair) -> list[str]:
    """What in a readable observation cannot be read: it is then unknown, and the rest is kept."""
    found = []
    inventory = pair.body.get("inventory")
    if not isinstance(inventory, dict):
        found.append("an observation without an inventory")
    else:
        found += [
            f"an inventory with an unreadable count of {item}: {_shown(count)}"
            for item, count in sorted(inventory.items(), key=lambda one: str(one[0]))
            if not _is_count(count)
        ]
    position = pair.status.get("position")
    for axis in "xyz":
        value = position.get(axis) if isinstance(position, dict) else None
        if not is_coordinate(value):
            found.append(f"an observation without a readable {axis}: {_shown(value)}")
    return found


def _shown(value: Any) -> str:
    """A value that cannot be read, in a few characters."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return f"{value!r:.40}"


def is_coordinate(value: Any) -> TypeGuard[float]:
    """Is a JSON value a place that a world can have? Its border lies at 30 million blocks."""
    return is_number(value) and abs(value) <= FARTHEST


def relative_name(path: Path, folder: Path) -> str:
    """A file's path below the imported folder, printable; its name where the file itself was imported."""
    return printable(path.relative_to(folder).as_posix() if path != folder else path.name)


def read_labels(run: Path, folder: Path) -> tuple[dict[str, int], dict[str, int], list[Row]]:
    """How often each task stands in the source's completed and failed lists, beside an events folder.

    A folder without curriculum/ has no labels; that is no error. What is readable of a broken list counts.
    """
    counts: list[dict[str, int]] = []
    rows: list[Row] = []
    for name in ("completed_tasks.json", "failed_tasks.json"):
        path = run.parent / "curriculum" / name
        found: dict[str, int] = {}
        if path.is_file():
            salvage = read_list(path)
            tasks = [task for _, task in salvage.elements if isinstance(task, str)]
            for task in tasks:
                found[tidy(task)] = found.get(tidy(task), 0) + 1
            reasons = [salvage.reason] if salvage.reason else []
            if len(tasks) < len(salvage.elements):
                reasons.append(f"{len(salvage.elements) - len(tasks)} labels are no task texts")
            rows += [
                quarantined(
                    relative_name(path, folder) if path.is_relative_to(folder) else name,
                    FORMAT,
                    f"labels: {reason}",
                    position=salvage.broken_at,
                    kept=len(tasks),
                    size=salvage.size,
                )
                for reason in reasons
            ]
        counts.append(found)
    return counts[0], counts[1], rows
