"""One walk of a folder for all importers: the files that can be read, and what cannot be entered or read.

    walk = files_below(folder)
    for path in walk.files: ...            # every readable regular file, in a fixed order
    rows += walk.quarantine(FORMAT)        # a row for each of walk.refused: nothing is skipped silently

Nothing here opens a file: a FIFO that is opened for reading waits for a writer that never comes.
"""

import errno
import os
import stat
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from rollouts.ingest.protocol import Row, printable, quarantined

SIDE_SUFFIXES: Final = frozenset({".mp4", ".avi", ".png", ".jpg", ".npy", ".zip", ".md", ".txt", ".log"})
_SIDE_NAMES: Final = ("license", "licence", "readme", "notice", "copying", ".git", ".ds_store")
_SIDE_FOLDERS: Final = frozenset({".git"})
_PROBES: Final = 40  # files looked at before a folder is taken to be of another format
# Reasons of their own for the errors that say something about the folder; others keep the system's words.
_WORDS: Final = {
    errno.ENOENT: "dangling link: what it leads to is not there",
    errno.ELOOP: "a link that leads to itself",
}
_KINDS: Final = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class Refused(NamedTuple):
    """What could not be entered or read: its name relative to the walked folder, printable, and why."""

    relative: str
    reason: str


@dataclass(frozen=True)
class Walk:
    """What lies below `root`. `files` are readable regular files (links to such files included), sorted by
    the parts of their names; `refused` is everything else that is not a folder, and folders that were not
    entered. Both are complete: `files` and `refused` together leave nothing out."""

    root: Path
    files: list[Path] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)

    def relative(self, path: Path) -> str:
        """A file's name below the root, as the file system has it; of a single file that was given, its own
        name."""
        return _relative(self.root, path)

    def named(self) -> dict[str, Path]:
        """The files by relative name, in order."""
        return {self.relative(path): path for path in self.files}

    def quarantine(self, source: str) -> list[Row]:
        """A quarantine row for each of `refused`; `source` is the importer's format."""
        return [quarantined(relative, source, reason) for relative, reason in self.refused]


def files_below(folder: Path, without: Collection[Path] = ()) -> Walk:
    """Everything below a folder, or the one file where `folder` is a file, in an order that does not depend
    on the file system.

    Links to files are read like files. Links to folders are not followed, since they may lead in a circle or
    to recordings that are in the walk anyway; they are refused, as are dangling links, links to themselves,
    pipes, sockets, devices, and files and folders without permission. Never raises on what it finds. What is
    in `without` is left out, with all that is below it.
    """
    walk = Walk(folder)
    for found in each_below(folder, without):
        if isinstance(found, Refused):
            walk.refused.append(found)
        else:
            walk.files.append(found)
    return walk


def each_below(folder: Path, without: Collection[Path] = ()) -> Iterator[Path | Refused]:
    """What `files_below` gathers, one by one and in its order, for a caller that needs only the first few."""
    if not is_folder(folder):
        yield _look_at(folder, folder)
        return
    # A stack, since a hostile folder may be nested deeper than calls can be.
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        if path != folder and not _is_own_folder(path):
            yield _look_at(folder, path)
            continue
        try:
            inside = sorted(path.iterdir(), reverse=True)
        except OSError as error:
            yield Refused(_printed(folder, path), f"the folder cannot be read: {_why(error)}")
            continue
        if inside and not os.access(path, os.X_OK):
            yield Refused(_printed(folder, path), "the folder cannot be entered: Permission denied")
            continue
        waiting += [child for child in inside if child not in without]


def is_folder(path: Path) -> bool:
    """Is it a folder, or a link to one? What may not be looked at is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def file_size(path: Path) -> int | None:
    """Bytes; None where the file may not be looked at."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def any_file(folder: Path, suffixes: tuple[str, ...], is_one: Callable[[Path], bool]) -> bool:
    """Is one of the folder's first files with such a name of the format, by its content?"""
    probed = 0
    for path in each_below(folder):
        if isinstance(path, Path) and path.name.endswith(suffixes):
            if is_one(path):
                return True
            probed += 1
            if probed >= _PROBES:
                return False
    return False


def left_over(path: Path, relative: str, source: str, side: bool = False) -> Row:
    """The row of a file that belongs to no recording: a known side file (`side`: of this format) is ignored,
    anything else is quarantined."""
    names = [part.lower() for part in Path(relative).parts]
    side = (
        side
        or path.suffix.lower() in SIDE_SUFFIXES
        or names[-1].startswith(_SIDE_NAMES)
        or any(name in _SIDE_FOLDERS for name in names[:-1])
    )
    size = file_size(path)
    reason = "known side file" if side else "empty file" if size == 0 else "another format"
    return quarantined(relative, source, reason, position=None if side else 0, size=size, ignored=side)


def _is_own_folder(path: Path) -> bool:
    """Is it a folder, and not a link to one?"""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _look_at(folder: Path, path: Path) -> Path | Refused:
    """The path, where it is a file that may be read."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        return Refused(_printed(folder, path), _why(error))
    if stat.S_ISDIR(mode):
        return Refused(_printed(folder, path), "a link to a folder, which is not followed")
    if not stat.S_ISREG(mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(mode)), "something")
        return Refused(_printed(folder, path), f"not a file but {kind}")
    if not os.access(path, os.R_OK):
        return Refused(_printed(folder, path), "cannot be read: Permission denied")
    return path


def _why(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return _WORDS.get(error.errno or 0) or error.strerror or type(error).__name__
    return str(error)


def _relative(root: Path, path: Path) -> str:
    return path.name if path == root else path.relative_to(root).as_posix()


def _printed(root: Path, path: Path) -> str:
    return printable(_relative(root, path)) or "."
