"""`mineevolve ui` runs other programs: none of them may be left when it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[1]
# Like a Dagster that was killed: it ends, and the process that it started does not heed an interruption.
FAMILY = """
import signal, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {stubborn!r}], stdout=subprocess.PIPE)
child.stdout.readline()
{then}
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print(flush=True)
time.sleep(99)
"""
# Where tests run in the background of a shell, interruptions are ignored, and that is inherited; and Dagster,
# once a test has run it, has terminations treated as interruptions.
ATTENDED = """
import os, signal, sys
from pipeline.command.web import attended
signal.signal(signal.SIGINT, signal.default_int_handler)
for each in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(each, signal.SIG_DFL)
sys.exit(attended([sys.executable, "-c", sys.argv[1]], os.environ, grace_s=float(sys.argv[2])))
"""


UP = "print('up', flush=True); "


def started(then: str, grace_s: float, mark: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", ATTENDED, FAMILY.format(then=then, stubborn=STUBBORN), str(grace_s)],
        cwd=ROOT,
        env=os.environ | {"MINEEVOLVE_TEST_MARK": mark, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    return process


def left(mark: str) -> list[int]:
    """The processes that carry the mark, those included whose parent is gone."""
    found = []
    for process in psutil.process_iter():
        try:
            if (
                process.environ().get("MINEEVOLVE_TEST_MARK") == mark
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_leaves_nothing_behind(tmp_path: Path, ending: signal.Signals) -> None:
    process = started(UP + "time.sleep(99)", 5, str(tmp_path))
    assert len(left(str(tmp_path))) == 3
    os.killpg(process.pid, ending)  # as a terminal does
    assert process.wait(60) == 0
    assert left(str(tmp_path)) == []


def test_a_second_interruption_does_not_wait(tmp_path: Path) -> None:
    deaf = "signal.signal(signal.SIGINT, signal.SIG_IGN); "
    process = started(deaf + UP + "time.sleep(99)", 10_000, str(tmp_path))
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 0
    assert left(str(tmp_path)) == []


def test_a_failure_is_passed_on_and_leaves_nothing_behind(tmp_path: Path) -> None:
    process = started(UP + "time.sleep(0.5); sys.exit(7)", 5, str(tmp_path))
    assert process.wait(60) == 7
    assert left(str(tmp_path)) == []
