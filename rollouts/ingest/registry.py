"""The importers, and how a folder finds its own."""

from pathlib import Path
from typing import Final

from rollouts.ingest.minerl import MineRLImporter
from rollouts.ingest.minestudio import MineStudioImporter
from rollouts.ingest.native import NativeImporter
from rollouts.ingest.protocol import Importer
from rollouts.ingest.voyager import VoyagerImporter
from rollouts.ingest.vpt import VPTImporter

IMPORTERS: Final[dict[str, Importer]] = {
    importer.name: importer
    for importer in (
        NativeImporter(),
        VoyagerImporter(),
        MineStudioImporter(),
        VPTImporter(),
        MineRLImporter(),
    )
}


class UnknownFormatError(ValueError):
    """No importer recognises a folder, or none has the name that was given."""


def importer_for(folder: Path, name: str | None = None) -> Importer:
    """The importer named, or the first that recognises the folder's content.

    Raises `UnknownFormatError` with the known names, `FileNotFoundError` when there is no such folder.
    """
    known = ", ".join(IMPORTERS)
    if name is not None:
        if name not in IMPORTERS:
            raise UnknownFormatError(f"no format is called {name!r}; the formats are {known}")
        return IMPORTERS[name]
    if not folder.exists():
        raise FileNotFoundError(f"{folder} does not exist; give the folder that holds the recordings")
    for importer in IMPORTERS.values():
        if importer.recognises(folder):
            return importer
    raise UnknownFormatError(
        f"{folder} holds no recording that is recognised by its content; "
        f"name its format with --format ({known})"
    )
