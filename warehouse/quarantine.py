"""Where files that cannot be read are kept: `quarantine/` below the data home. Nothing there is removed."""

import shutil
from pathlib import Path

from warehouse.ids import digest, file_digest
from warehouse.shards import NAME_LENGTH, sync_folder
from warehouse.writing import reached, refusals_explained


def place_for(home: Path, path: Path) -> Path:
    """Where a file or folder of the data home would be kept: under its own path, with its content in its
    name, so that what was there before under that name stays."""
    content = file_digest(path) if path.is_file() else _folder_digest(path)
    inside = path.relative_to(home)
    return home / "quarantine" / inside.parent / f"{content[:NAME_LENGTH]}-{inside.name}"


def set_aside(home: Path, path: Path) -> Path:
    """Moves a file or folder to where it is kept; that place. What is there already with the same content is
    the same, and is kept once."""
    place = place_for(home, path)
    with refusals_explained(place), refusals_explained(path):
        place.parent.mkdir(parents=True, exist_ok=True)
        reached("put aside", path)
        if path.is_file():
            path.replace(place)
        elif place.exists():
            shutil.rmtree(path)
        else:
            path.rename(place)
        sync_folder(path.parent)
        sync_folder(place.parent)
    return place


def _folder_digest(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return digest([[path.relative_to(folder).as_posix(), file_digest(path)] for path in files])
