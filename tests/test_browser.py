"""A person's way through the UI, in a real browser: start it, see the assets, make knowledge of recordings, look
at what came of it.

Pictures of every step go to the folder that MINEEVOLVE_SCREENSHOTS names (default .ci/artifacts/ui). Chromium
is the one on the path or that MINEEVOLVE_CHROMIUM names; none is ever downloaded.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.error import URLError

import psutil
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

ROOT: Final = Path(__file__).parents[1]
PATIENCE_S: Final = 180
"""for anything: the machine may be busy with other things"""
MAIN_FLOW: Final = (
    "imported_trajectories",
    "typed_feedback",
    "knowledge_candidates",
    "candidate_reviews",
    "curated_knowledge",
    "knowledge_snapshot",
    "analysis_warehouse",
)


@pytest.fixture(scope="module")
def chromium() -> str:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("MINEEVOLVE_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("there is no chromium, and CI promises one: apt-get install chromium")
    if found is None:
        pytest.skip("there is no chromium here: install Debian's, or name one in MINEEVOLVE_CHROMIUM")
    return found


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of what `make ui` serves, on a free port and a data home of its own."""
    home = tmp_path_factory.mktemp("ui")
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # The environment that the tests run in is the one that is served: it is not set up again.
    made = ("-o", "setup", f"BIN={Path(sys.executable).parent}", f"PORT={port}")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environment |= {"MINEEVOLVE_DATA": str(home / "data"), "PYTHONPATH": str(ROOT)}
    log = home / "ui.log"
    with log.open("w") as told:
        process = subprocess.Popen(
            ["make", "--no-print-directory", *made, "ui"],
            cwd=ROOT,
            env=environment,
            stdout=told,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_until_it_answers(address, process, log)
        yield address
    finally:
        end(process)


def wait_until_it_answers(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with suppress(URLError, ConnectionError, TimeoutError), urllib.request.urlopen(address, timeout=5):
            return
        time.sleep(0.2)
    pytest.fail(f"nothing answers at {address}:\n{log.read_text()[-3000:]}")


def end(process: "subprocess.Popen[bytes]") -> None:
    """Ends the server as a closed terminal does, and whatever of it should be left."""
    family = []
    with suppress(psutil.NoSuchProcess):
        family = psutil.Process(process.pid).children(recursive=True)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(60)
    _, left = psutil.wait_procs(family, timeout=10)
    for one in left:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def page(chromium: str, ui: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator["Page"]:
    from playwright.sync_api import sync_playwright

    quiet = ["--no-sandbox", "--disable-quic", "--disable-sync", "--disable-component-update"]
    profile = tmp_path_factory.mktemp("profile")
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(profile), executable_path=chromium, args=quiet, viewport={"width": 1440, "height": 900}
        )
        context.set_default_timeout(PATIENCE_S * 1000)
        opened = context.pages[0]
        opened.goto(ui)
        try:
            yield opened
        except BaseException:
            picture(opened, "where_it_failed")
            raise
        finally:
            context.close()


def picture(page: "Page", name: str) -> None:
    folder = Path(os.environ.get("MINEEVOLVE_SCREENSHOTS", ROOT / ".ci" / "artifacts" / "ui"))
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name}.png")


def open_tab(page: "Page", name: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name=name).click()


def choose(dialog: "Locator", dimension: str, partition: str) -> None:
    """Chooses one partition of a dimension, unless it is chosen already."""
    page = dialog.page
    dialog.get_by_text("Select a partition").first.or_(dialog.get_by_text(partition, exact=True).first).wait_for()
    raise NotImplementedError
