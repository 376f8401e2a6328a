"""The files of a Voyager checkpoint folder: event files in time order, labels, and everything else."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from rollouts.ingest.json_pairs import Salvage, locate, read_list
from rollouts.ingest.protocol import Row, printable, quarantined
from rollouts.ingest.task_text import tidy

FORMAT: Final = "voyager"
_STAMPED = re.compile(r"^(?P<task>.*)_(?P<stamp>\d{8}_\d{6})(?:\.json)?$", re.DOTALL)
_SIDE_FILE = re.compile(
    r"(?:^|/)(?:LICEN[CS]E|README|NOTICE|COPYING|\.git|\.DS_Store)|(?:^|/)(?:action|skill|vectordb)/|_cache\.json$"
    r"|(?:^|/)(?:completed_tasks|failed_tasks)\.json$",
    re.IGNORECASE,
)
_PROBES: Final = 12


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
        return int(value) if isinstance(value, int | float) and value >= 0 else None

    @property
    def inventory(self) -> dict[str, int] | None:
        """Item -> count; None where the observation has none."""
        value = self.body.get("inventory")
        if not isinstance(value, dict):
            return None
        return {
            str(item): int(count)
            for item, count in sorted(value.items())
            if isinstance(count, int | float) and count > 0
        }


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
    """Does the file begin like a list of [event, observation] pairs?"""
    try:
        with path.open("rb") as handle:
            head = handle.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    except OSError:
        return False
    return bool(re.match(rb'\[\s*\[\s*"(?:on[A-Z]\w*|observe)"\s*,\s*\{', head))


def recognises(folder: Path) -> bool:
    """Is there a time-stamped file that begins like an event list?"""
    if folder.is_file():
        return False
    probed = 0
    for path in files_below(folder):
        if _STAMPED.match(path.name):
            if is_event_list(path):
                return True
            probed += 1
            if probed >= _PROBES:
                return False
    return False


def files_below(folder: Path) -> Iterator[Path]:
    """Every file below a folder, in a fixed order."""
    yield from sorted(
        (path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.as_posix()
    )


def read_folder(folder: Path) -> tuple[list[EventFile], list[Row]]:
    """The event files in the order (run folder, time stamp, name), and rows for all other files."""
    events: list[EventFile] = []
    rows: list[Row] = []
    for path in files_below(folder):
        relative = printable(path.relative_to(folder).as_posix())
        match = _STAMPED.match(path.name)
        if match:
            events.append(_read_file(path, relative, match["task"], match["stamp"]))
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


def _read_file(path: Path, relative: str, task: str, stamp: str) -> EventFile:
    salvage = read_list(path)
    file = EventFile(path, relative, tidy(task), stamp, size=salvage.size)
    bad: list[tuple[int, str]] = []
    for index, (offset, element) in enumerate(salvage.elements):
        problem = _problem(element)
        if problem is None:
            file.pairs.append(Pair(element[0], element[1]))
        else:
            bad.append((offset if offset >= 0 else index, problem))
    if bad and salvage.reason is None:
        offsets = locate(path)
        bad = [(offsets[index], problem) for index, problem in bad]
    for offset, problem in bad:
        file.quarantine.append(_row(file, salvage, problem, offset))
    if salvage.reason is not None:
        file.broken = True
        file.quarantine.append(_row(file, salvage, salvage.reason, salvage.broken_at))
    return file


def _row(file: EventFile, salvage: Salvage, reason: str, position: int | None) -> Row:
    return quarantined(
        file.relative, FORMAT, reason, position=position, kept=len(file.pairs), size=salvage.size
    )


def _problem(element: Any) -> str | None:
    if not (isinstance(element, list) and len(element) == 2):
        return "not an [event, observation] pair"
    name, body = element
    if not isinstance(name, str) or not isinstance(body, dict):
        return "not an [event, observation] pair"
    if not isinstance(body.get("status"), dict):
        return "an observation without a status"
    if not isinstance(body["status"].get("elapsedTime"), int | float):
        return "an observation without an elapsed time"
    return None


def read_labels(run: Path) -> tuple[dict[str, int], dict[str, int], list[Row]]:
    """How often each task stands in the source's completed and failed lists, beside an events folder.

    A folder without curriculum/ has no labels; that is not an error.
    """
    counts: list[dict[str, int]] = []
    rows: list[Row] = []
    for name in ("completed_tasks.json", "failed_tasks.json"):
        path = run.parent / "curriculum" / name
        found: dict[str, int] = {}
        if path.is_file():
            try:
                tasks = orjson.loads(path.read_bytes())
                if not isinstance(tasks, list):
                    raise ValueError("not a list of tasks")
            except (OSError, ValueError) as error:
                rows.append(
                    quarantined(f"curriculum/{name}", FORMAT, f"labels cannot be read: {error}", position=0)
                )
            else:
                for task in tasks:
                    key = tidy(str(task))
                    found[key] = found.get(key, 0) + 1
        counts.append(found)
    return counts[0], counts[1], rows
