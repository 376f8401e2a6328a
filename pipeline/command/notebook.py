"""`mineevolve notebook`."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pipeline.command.ask import refuse_unpublished
from pipeline.command.console import MISUSED, fail, out
from pipeline.command.web import attended
from pipeline.settings import Settings

STANDARD: Final = Path(__file__).parent.parent / "notebook" / "standard.py"


def notebook(export: Path | None, edit: Path | None, port: int) -> None:
    """Shows the standard plots of a data home, writes them as a page, or opens a copy that can be changed."""
    settings = Settings()
    if find_spec("marimo") is None:
        raise fail("the notebook needs marimo: `pip install 'mineevolve[notebook]'` brings it", MISUSED)
    refuse_unpublished(settings.home)
    environment = os.environ | {"MINEEVOLVE_DATA": str(settings.home)}
    marimo = [sys.executable, "-m", "marimo", "-q", "-y"]
    if export is not None:
        if not export.parent.is_dir():
            raise fail(f"cannot write {export}: there is no folder {export.parent}", MISUSED)
        with TemporaryDirectory() as folder:
            # marimo keeps a memory of each run beside the notebook; it goes with this folder.
            copy = shutil.copy(STANDARD, folder)
            page = ["export", "html", copy, "-o", str(export.resolve()), "-f", "--no-include-code"]
            done = subprocess.run([*marimo, *page], env=environment, capture_output=True, text=True)
        if done.returncode:
            raise fail(f"a cell of the notebook failed: {done.stderr.strip() or done.stdout.strip()}")
        out.print(f"wrote {export}", markup=False, soft_wrap=True)
        return
    if edit is None:
        opened, how = STANDARD, ["run"]
    else:
        # What an analyst changes is theirs: a copy that is there already is opened and not written over.
        if not edit.exists():
            edit.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(STANDARD, edit)
        opened, how = edit, ["edit", "--skip-update-check"]
    url = f"http://127.0.0.1:{port}"
    out.print(f"{opened.name} on {url} (stop with Ctrl-C)", markup=False, soft_wrap=True)
    served = ["--host", "127.0.0.1", "--port", str(port), str(opened)]
    raise SystemExit(attended([*marimo, *how, *served], environment))
