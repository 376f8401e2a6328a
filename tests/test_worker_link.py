"""A worker's requests: answered, or ended in bounded time, with no process left."""

import gc
import signal
import subprocess
import sys
import time
from os import kill
from pathlib import Path

import psutil
import pytest

from rollouts.worlds.worker_link import WorkerError, WorkerLink
from tests.conftest import ROOT

FAKE = Path(__file__).with_name("fake_worker.py")


def link(*fails: str, silence_s: float = 5.0, reply_s: float = 10.0) -> WorkerLink:
    made = WorkerLink([sys.executable, str(FAKE)], FAKE.parent, silence_s, reply_s)
    made.ask("begin", commands=list(fails))
    return made


def step(one: WorkerLink, ticks: int = 10) -> object:
    return one.ask("step", ticks=ticks, errand=None)


def gone(pid: int) -> bool:
    for _ in range(250):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


def test_requests_are_answered_in_turn() -> None:
    one = link()
    assert len(one.ask("step", ticks=4, errand=None)["ticks"]) == 4
    assert len(one.ask("step", ticks=2, errand=None)["ticks"]) == 2
    one.close()
    one.close()
    assert gone(one.pid)


@pytest.mark.parametrize(
    ("fails", "said"),
    [
        ("die 3", "ended, exit code 3: the last words"),
        ("hang 3", "did not answer within 5 s"),
        ("silent 3", "said nothing for 3 s"),
        ("garbage 3", "no JSON: b'this is no JSON"),
        ("fail 3", "disconnected: socketClosed"),
    ],
)
def test_whatever_goes_wrong_ends_the_worker_and_says_how(fails: str, said: str) -> None:
    one = link(fails, silence_s=3.0, reply_s=5.0)
    with pytest.raises(WorkerError, match=said):
        step(one)
    assert gone(one.pid)
    with pytest.raises(WorkerError, match="was ended"):
        step(one)


def test_a_killed_worker_is_noticed() -> None:
    one = link()
    kill(one.pid, signal.SIGKILL)
    with pytest.raises(WorkerError, match="exit code -9"):
        step(one)


def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(WorkerError, match="no-such-program cannot be started"):
        WorkerLink(["no-such-program"], FAKE.parent, 1.0, 1.0)


def test_a_link_that_nobody_holds_leaves_no_process() -> None:
    one = link()
    pid = one.pid
    del one
    gc.collect()
    assert gone(pid)


def test_what_a_killed_worker_had_started_outside_of_its_group_is_ended_too(tmp_path: Path) -> None:
    started = tmp_path / "pid"
    code = f"""
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
pathlib.Path({str(started)!r}).write_text(str(child.pid))
time.sleep(60)
"""
    one = WorkerLink([sys.executable, "-c", code], tmp_path, 0.2, 10.0)
    while not started.exists() or not started.read_text():
        time.sleep(0.05)
    kill(one.pid, signal.SIGKILL)
    one.close()
    assert gone(int(started.read_text()))


def test_a_worker_ends_with_its_parent() -> None:
    code = f"""
import os, sys, time
sys.path.insert(0, {str(ROOT)!r})
from tests.test_worker_link import link
print(link().pid, flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    assert gone(pid)
