"""Engine `vllm`: vLLM's offline engine in a process of its own, which is started by the first batch and ends
with the context that opened the model.

A process of its own, because a GPU's memory comes back only when the process that took it ends, and because a
model that crashes must not take a run with it. Whatever happens to it becomes `engine` (or `timeout`) errors
of the batch under way; the next batch starts it anew, `STARTS` times at most.
"""

import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from prompts.engines.identity import name_of, turns_of
from prompts.engines.models import VllmRow
from prompts.engines.vllm_messages import (
    TO_PARENT,
    Answered,
    Chat,
    Failed,
    Line,
    Load,
    Loaded,
    Question,
    Reply,
    Turn,
    written,
)
from prompts.language_model import ErrorReason, ModelAnswer, ModelRequest, Spent
from prompts.responses import failed_answer, read_answer

STARTS: Final = 3
_ROOT: Final = Path(__file__).resolve().parents[2]
_GRACE_S: Final = 10.0


class EngineMissingError(RuntimeError):
    """The engine is not installed; the text says what to install."""


class ProcessLostError(RuntimeError):
    """The process with the model in it is no use any more."""

    def __init__(self, reason: ErrorReason, why: str) -> None:
        super().__init__(why)
        self.reason: ErrorReason = reason


class VllmProcess:
    """The process with the model in it; a context manager. It is started by the first batch."""

    def __init__(self, row: VllmRow) -> None:
        self._row = row
        self._child: _Child | None = None
        self._starts = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process; the next batch would start another."""
        if self._child is not None:
            self._child.end()
            self._child = None

    def ask(self, questions: Sequence[Question]) -> tuple[Reply, ...]:
        """One reply per question. `ProcessLostError` when the process is gone, or took too long and was
        ended; `EngineMissingError` where vllm cannot be imported."""
        try:
            if self._child is None:
                if self._starts == STARTS:
                    raise ProcessLostError("engine", f"it was started {STARTS} times and ended each time")
                self._starts += 1
                self._child = _Child(self._row)
                self._child.load()
            return self._child.ask(questions)
        except BaseException:
            # After an interruption as well: an answer to this batch must not be taken for one to the next.
            self.close()
            raise


class VllmModel:
    """A `LanguageModel` in a `VllmProcess`; several, which draw by different seeds, can share one."""

    def __init__(self, row: VllmRow, process: VllmProcess) -> None:
        self._row = row
        self._process = process
        self.name: str = name_of(row)

    def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
        """One answer per request, in order, all of them asked in one batch.

        `EngineMissingError` where vllm cannot be imported; everything else is an answer with its error.
        """
        if not requests:
            return []
        try:
            replies = self._process.ask([self._question(request) for request in requests])
        except ProcessLostError as lost:
            return [failed_answer(request, self.name, lost.reason, str(lost)) for request in requests]
        return [self._answer(request, reply) for request, reply in zip(requests, replies, strict=True)]

    def _question(self, request: ModelRequest) -> Question:
        sampling = self._row.sampling
        limit = self._row.max_tokens or request.max_tokens
        return Question(
            turns=tuple(Turn(role=role, content=text) for role, text in turns_of(self._row, request)),
            json_schema=request.json_schema,
            max_tokens=min(limit, request.max_tokens),
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            seed=sampling.seed,
        )

    def _answer(self, request: ModelRequest, reply: Reply) -> ModelAnswer:
        if reply.refused is not None:
            return failed_answer(request, self.name, "engine", reply.refused)
        return read_answer(
            request,
            self.name,
            reply.text,
            finish_reason=reply.finish_reason,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            spent=Spent(
                seconds=reply.seconds,
                tokens_reused=reply.tokens_reused,
                cost=self._row.cost(reply.tokens_in, reply.tokens_out),
            ),
        )


class _Child:
    """The process, its pipe, and a thread that reads what it says, so that waiting can have an end."""

    def __init__(self, row: VllmRow) -> None:
        self._row = row
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the process
        self._said: queue.Queue[bytes | None] = queue.Queue()
        paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | row.environment | {"PYTHONPATH": os.pathsep.join(paths)}
        try:
            self._process = subprocess.Popen(
                [row.interpreter, "-m", "prompts.engines.vllm_child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=environment,
                # A group of its own: what vllm starts in it is ended with it, and Ctrl-C reaches only us.
                start_new_session=True,
            )
        except OSError as error:
            self._log.close()
            raise EngineMissingError(
                f"model {row.name}: {row.interpreter} cannot be started ({error.strerror}); `python` in its "
                "row names the interpreter that has vllm"
            ) from error
        threading.Thread(target=self._listen, daemon=True).start()

    def load(self) -> None:
        """Loads the model."""
        self._say(Load(arguments=self._row.engine_arguments))
        match self._heard(self._row.start_timeout_s, "loading the model"):
            case Loaded():
                return
            case Failed(missing=True):
                raise EngineMissingError(missing_vllm(self._row))
            case Failed(why=why):
                raise ProcessLostError("engine", why)
            case other:
                raise ProcessLostError("engine", f"it said {other.kind} instead of loading")

    def ask(self, questions: Sequence[Question]) -> tuple[Reply, ...]:
        """The replies to one batch."""
        self._say(Chat(questions=tuple(questions)))
        match self._heard(self._row.batch_timeout_s, f"answering {len(questions)} questions"):
            case Answered(replies=replies) if len(replies) == len(questions):
                return replies
            case Failed(why=why):
                raise ProcessLostError("engine", why)
        raise ProcessLostError("engine", "it gave another number of answers than there were questions")

    def end(self) -> None:
        """Ends the process and whatever it started; returns when they are gone."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_GRACE_S)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._log.close()

    def _say(self, message: Line) -> None:
        assert self._process.stdin is not None
        # What it last said, if it is dying, is heard below; a broken pipe says less.
        with suppress(BrokenPipeError):
            self._process.stdin.write(written(message))
            self._process.stdin.flush()

    def _heard(self, limit_s: float, doing: str) -> Loaded | Answered | Failed:
        try:
            line = self._said.get(timeout=limit_s)
        except queue.Empty:
            raise ProcessLostError("timeout", f"{doing} took longer than {limit_s:g} s") from None
        if line is None:
            raise ProcessLostError("engine", f"the model's process ended while {doing}{self._last_words()}")
        try:
            return TO_PARENT.validate_json(line)
        except ValueError as error:
            raise ProcessLostError(
                "engine", f"the model's process said something unreadable: {line[:80]!r}"
            ) from error

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.put(line)
        self._said.put(None)

    def _last_words(self) -> str:
        """How it ended: its exit status, and the last line that it printed."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_GRACE_S)
        status = self._process.returncode
        how = f"signal {-status}" if status is not None and status < 0 else f"status {status}"
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return f" ({how})" + (f": {lines[-1][:200]}" if lines else "")


def missing_vllm(row: VllmRow) -> str:
    """What to do where vllm cannot be imported."""
    return (
        f"model {row.name} needs vllm, which {row.interpreter} does not have: install the extra (pip install "
        "'mineevolve[vllm]'), or name an interpreter that has it as `python` in the model's row"
    )
