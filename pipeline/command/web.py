"""`mineevolve ui`."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

from pipeline.command.console import err, out
from pipeline.settings import Settings

_GRACE_S: Final = 20.0
# As workspace.yaml of the checkout, which is not there when the project is installed.
_WORKSPACE: Final = """\
load_from:
  - python_module:
      module_name: pipeline.definitions
      location_name: mineevolve
"""
_ENDINGS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def serve(port: int) -> None:
    """Runs Dagster's web server and daemon on the project's instance until it is interrupted."""
    from pipeline.launch import begin_a_build, end_orphans, prepare

    settings = Settings()
    home = prepare(settings)
    workspace = home / "workspace.yaml"
    workspace.write_text(_WORKSPACE, encoding="utf-8")
    if ended := end_orphans(settings):
        err.print(f"runs that were left behind when their server stopped are ended: {len(ended)}")
    begin_a_build(settings)
    environment = os.environ | {
        "DAGSTER_HOME": str(home),
        "MINEEVOLVE_DATA": str(settings.home),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
    }
    url = f"http://127.0.0.1:{port}"
    out.print(f"Dagster on {url} (stop with Ctrl-C); its home is {home}", markup=False, soft_wrap=True)
    command = [
        sys.executable,
        "-m",
        "dagster",
        "dev",
        "-w",
        str(workspace),
        "-h",
        "127.0.0.1",
        "-p",
        str(port),
    ]
    raise SystemExit(attended(command, environment))


def attended(command: Sequence[str], environment: Mapping[str, str], grace_s: float = _GRACE_S) -> int:
    """Runs a command that starts processes of its own; its exit status, 0 when it was interrupted.

    Whatever ends it, none of its processes is left when this returns. They have `grace_s` seconds to end by
    themselves, less when it is interrupted twice.
    """
    # In a session of its own Ctrl-C does not reach it directly: Dagster would be interrupted twice, by the
    # terminal and from here, the second time in the middle of clearing up.
    with _endings() as asked:
        process = subprocess.Popen(command, env=dict(environment), start_new_session=True)
        while process.poll() is None and not asked:
            time.sleep(0.1)
        ended_itself = process.returncode
        if ended_itself is None:
            err.print("stopping; Ctrl-C again does not wait for it")
            process.send_signal(signal.SIGINT)
            deadline = time.monotonic() + grace_s
            while process.poll() is None and len(asked) < 2 and time.monotonic() < deadline:
                time.sleep(0.1)
        _end_group(process)
    return 0 if ended_itself is None else ended_itself


@contextmanager
def _endings() -> Iterator[list[int]]:
    """Collects the signals that ask this process to end, instead of ending it."""
    asked: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        asked.append(number)

    # What is ignored stays so: under nohup a lost terminal is no reason to end.
    heeded = [number for number in _ENDINGS if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, note) or signal.SIG_DFL for number in heeded}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """Ends what is left of the process's group: code servers outlive a Dagster that was killed."""
    for ending in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + 2
        with suppress(ProcessLookupError):
            os.killpg(process.pid, ending)
            while time.monotonic() < deadline:
                process.poll()
                os.killpg(process.pid, 0)
                time.sleep(0.05)
    process.wait()
