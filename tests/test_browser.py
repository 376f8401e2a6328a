"""A person's way through the UI, in a real browser: start it, see the assets, make knowledge of recordings,
look at what came of it.

Pictures of every step go to the folder that MINEEVOLVE_SCREENSHOTS names (default .ci/artifacts/ui). Chromium
is the one on the path or that MINEEVOLVE_CHROMIUM names; none is ever downloaded.
"""

import os
import re
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
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

ROOT: Final = Path(__file__).parents[1]
PATIENCE_S: Final = 240
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
        context.set_default_timeout(PATIENCE_S * 1000 / 2)
        opened = context.pages[0]
        opened.goto(ui)
        try:
            yield opened
            picture(opened, "where_it_ended")
        finally:
            context.close()


def picture(page: "Page", name: str) -> None:
    folder = Path(os.environ.get("MINEEVOLVE_SCREENSHOTS", ROOT / ".ci" / "artifacts" / "ui"))
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name}.png")


def open_tab(page: "Page", name: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name=re.compile(rf"(^| ){name}$")).click()


def open_job(page: "Page", name: str) -> None:
    open_tab(page, "Jobs")
    page.get_by_role("link", name=name).first.click()
    page.get_by_role("heading", name=name).wait_for()


def launch(page: "Page", *partitions: str) -> None:
    """From a job's page: chooses one partition of each dimension and launches the run."""
    dialog = page.get_by_role("dialog").filter(has_text="Partition selection")
    for partition in partitions:
        dialog.get_by_text("Select a partition").first.click()
        page.get_by_role("menuitem", name=partition).click()
        page.keyboard.press("Escape")
    dialog.get_by_role("button", name="Launch 1 run").click()
    dialog.wait_for(state="hidden")


def see_it_succeed(page: "Page", name: str) -> None:
    """From a job's page to its latest run, which has to end well."""
    page.get_by_text("Latest run:").wait_for()
    page.locator("a[href^='/runs/']").first.click()
    page.get_by_text(re.compile(r"^(Success|Failure|Canceled)$")).first.wait_for()
    picture(page, name)
    assert page.get_by_text("Success", exact=True).count() == 1


def open_asset(page: "Page", name: str) -> None:
    open_tab(page, "Catalog")
    page.get_by_role("link", name="accumulation_curve").first.wait_for()
    link = page.get_by_role("link", name=name).first
    for _ in range(10):  # rows are made as one scrolls to them
        if not link.count():
            page.mouse.move(800, 500)
            page.mouse.wheel(0, 400)
            page.wait_for_timeout(300)
    link.click()
    page.wait_for_url(re.compile(rf"/assets/{name}"))
    page.get_by_text("Latest materialization").wait_for()


def test_a_newcomer_makes_knowledge_of_recordings(page: "Page", ui: str) -> None:
    elsewhere: list[str] = []
    page.on(
        "request", lambda request: elsewhere.append(request.url) if is_elsewhere(request.url, ui) else None
    )

    # The groups tell the main flow from left to right, before anything is there.
    open_tab(page, "Lineage")
    graph = page.locator("svg")
    for group in ("traces", "rollouts", "feedback", "knowledge", "analysis", "evaluation"):
        graph.get_by_text(group, exact=True).wait_for()
    picture(page, "1_asset_graph")

    # The jobs say which step they are.
    open_job(page, "import_traces")
    page.get_by_text("Recordings, step 1 of 3").wait_for()
    page.get_by_role("button", name="Materialize all").click()
    page.get_by_role("button", name="Confirm").click()
    launch(page, "0000", "imported")
    see_it_succeed(page, "2_import_traces")

    open_job(page, "learn_knowledge")
    page.get_by_text("Recordings, step 2 of 3").wait_for()
    page.get_by_role("button", name="Materialize all").click()
    launch(page, "0000")
    see_it_succeed(page, "3_learn_knowledge")
    open_job(page, "learn_knowledge")
    page.get_by_text("Latest run:").wait_for()  # its graph is too wide for the text on its nodes
    picture(page, "4_job")

    open_job(page, "publish_analysis")
    page.get_by_text("Recordings, step 3 of 3").wait_for()
    page.get_by_role("button", name="Materialize").first.click()
    see_it_succeed(page, "5_publish_analysis")

    # Green all along.
    for asset in MAIN_FLOW:
        open_asset(page, asset)
        page.get_by_role("img", name="run_success").first.wait_for()
    open_asset(page, "knowledge_snapshot")
    page.get_by_text("Freshness policy").first.wait_for()
    page.get_by_text("Derived from domain, type, trigger and content").wait_for()
    picture(page, "6_snapshot_with_freshness_and_columns")
    open_tab(page, "Catalog")
    page.get_by_text("Never materialized").first.wait_for()
    picture(page, "7_catalog")

    # A table and a plot: what attempts fail of.
    open_asset(page, "typed_feedback")
    table = page.get_by_role("table").filter(has=page.get_by_role("columnheader", name="failure_type")).last
    table.get_by_role("cell", name="MISSING_STATION").scroll_into_view_if_needed()
    picture(page, "8_table")
    page.get_by_text("what columns are made from").wait_for()
    page.get_by_text("[Show Markdown]").first.click()
    plot = page.get_by_role("dialog").get_by_role("img", name="unsuccessful attempts by failure type")
    plot.wait_for()
    assert plot.evaluate("image => image.complete && image.naturalWidth > 300")
    picture(page, "9_plot")
    page.get_by_role("button", name="Close").click()

    # The server is on this machine, and so is all that its pages ask for.
    assert elsewhere == []


def is_elsewhere(url: str, ui: str) -> bool:
    return not url.startswith((ui, ui.replace("http", "ws"), "data:", "blob:"))
