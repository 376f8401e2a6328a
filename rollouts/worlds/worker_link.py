"""A world's worker: a process of its own that answers requests, JSON lines over its stdin and stdout.

    {"id": 1, "op": ...}   ->   {"id": 1, ...}  or  {"id": 1, "error": "what went wrong"}

In between it says {"beat": n} from time to time. Every wait has two bounds: how long the process may say
nothing at all, and how long one answer may take. Whatever breaks them, the process is ended with all that it
started, what has left its process group included: it is known by a mark in its environment.
"""

import json
import os
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import IO, Any, Final

import psutil

_MARK: Final = "MINEEVOLVE_WORKER"
_NUMBERS: Final = count()
_TAIL: Final = 600
"""characters of its last words that an error quotes"""


class WorkerError(ConnectionError):
    """The worker died, hangs, or says that its world is lost."""


class WorkerLink:
    """A running worker. `close` it; one that nobody holds any more is ended as well, and so is one whose
    parent is gone, by the end of its stdin."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        silence_s: float,
        reply_s: float,
        *,
        goodbye_s: float = 2.0,
    ) -> None:
        """Starts the process in `folder`. `goodbye_s` is how long it may take to end by itself when its stdin
        is closed. `WorkerError` where there is no such program."""
        self._silence_s, self._reply_s = silence_s, reply_s
        self._count = 0
        mark = f"{os.getpid()}-{next(_NUMBERS)}"
        # Not a pipe: nobody reads it until something went wrong, and a full one would stop the worker.
        self._words = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the worker)
        try:
            self._process = subprocess.Popen(
                list(command),
                cwd=folder,
                env={**os.environ, _MARK: mark},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._words,
                start_new_session=True,
            )
        except OSError as error:
            self._words.close()
            raise WorkerError(f"{command[0]} cannot be started: {error}") from error
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        assert self._process.stdout is not None
        Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()
        self._end = weakref.finalize(self, _end, self._process, mark, goodbye_s)
        self._goodbye_s = goodbye_s

    @property
    def pid(self) -> int:
        """The worker's process id, which is also that of its process group."""
        return self._process.pid

    def ask(self, op: str, **request: Any) -> dict[str, Any]:
        """The answer to a request. `WorkerError` where there is none in time, after which the worker is
        ended."""
        self._count += 1
        try:
            self._send({"id": self._count, "op": op, **request})
            answer = self._answer()
            if "error" in answer:
                raise WorkerError(str(answer["error"]))
        except WorkerError:
            self.close()
            raise
        return answer

    def close(self) -> None:
        """Ends the worker. May be called again."""
        self._end()
        self._words.close()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise WorkerError(self._death()) from error

    def _answer(self) -> dict[str, Any]:
        deadline = monotonic() + self._reply_s
        while True:
            left = deadline - monotonic()
            if left <= 0:
                raise WorkerError(f"the worker did not answer within {self._reply_s:g} s")
            try:
                line = self._lines.get(timeout=min(left, self._silence_s))
            except Empty:
                if left > self._silence_s:
                    raise WorkerError(f"the worker said nothing for {self._silence_s:g} s") from None
                continue
            if line is None:
                raise WorkerError(self._death())
            try:
                answer = json.loads(line)
            except ValueError:
                raise WorkerError(f"the worker said what is no JSON: {line[:_TAIL]!r}") from None
            if "beat" in answer:
                continue
            if answer.get("id") != self._count:
                raise WorkerError(f"the worker answered request {answer.get('id')}, not {self._count}")
            return dict(answer)

    def _death(self) -> str:
        if self._words.closed:
            return "the worker was ended"
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(self._goodbye_s)
        self._words.seek(0)
        said = self._words.read().decode(errors="replace").strip()[-_TAIL:]
        return f"the worker ended, exit code {self._process.returncode}" + (f": {said}" if said else "")


def _read(stdout: IO[bytes], lines: "SimpleQueue[bytes | None]") -> None:
    with stdout, suppress(OSError, ValueError):
        for line in stdout:
            lines.put(line)
    lines.put(None)


def _end(process: "subprocess.Popen[bytes]", mark: str, goodbye_s: float) -> None:
    """Asks the process to end, then ends its whole group, and what it started outside of that."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(goodbye_s)
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for each in psutil.process_iter():
        with suppress(psutil.Error):
            if each.environ().get(_MARK) == mark:
                each.kill()
