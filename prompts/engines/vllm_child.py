"""The process that has the model in it: `python -m prompts.engines.vllm_child`.

It reads messages from its standard input and writes to what its standard output was; everything that vllm and
the libraries below it print goes to standard error. It ends with its standard input, and takes every process
that it started with it.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any, BinaryIO

from prompts.engines.vllm_messages import (
    TO_CHILD,
    Answered,
    Chat,
    Failed,
    Line,
    Load,
    Loaded,
    Question,
    Reply,
    written,
)

_LOOK_S = 1.0


def main() -> None:
    """Loads on the first message and answers batches until the parent closes the pipe or is gone."""
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    try:
        _serve(sys.stdin.buffer, channel)
    except Exception as error:
        _say(channel, Failed(why=_first_line(error), missing=_is_missing(error)))
        raise


def _serve(incoming: BinaryIO, channel: BinaryIO) -> None:
    llm: Any = None
    for line in incoming:
        match TO_CHILD.validate_json(line):
            case Load(arguments=arguments):
                import vllm

                llm = vllm.LLM(**arguments)
                _say(channel, Loaded(version=str(vllm.__version__)))
            case Chat(questions=questions):
                _say(channel, Answered(replies=tuple(_answers(llm, questions))))


def _answers(llm: Any, questions: Sequence[Question]) -> list[Reply]:
    """All questions in one batch. One that vllm refuses (too long a prompt, a schema that it cannot guide by)
    makes it refuse the batch before anything is computed, so halving finds it at little cost."""
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    if not questions:
        return []
    parameters = [
        SamplingParams(
            temperature=each.temperature,
            top_p=each.top_p,
            seed=each.seed,
            max_tokens=each.max_tokens,
            structured_outputs=StructuredOutputsParams(json=each.json_schema),
        )
        for each in questions
    ]
    turns = [[turn.model_dump() for turn in each.turns] for each in questions]
    started = time.monotonic()
    try:
        outputs = llm.chat(turns, parameters, use_tqdm=False)
    except _refusals() as error:
        if len(questions) == 1:
            return [Reply(refused=_first_line(error))]
        half = len(questions) // 2
        return [*_answers(llm, questions[:half]), *_answers(llm, questions[half:])]
    seconds = time.monotonic() - started
    return [_reply(output, seconds) for output in outputs]


def _refusals() -> tuple[type[Exception], ...]:
    """What vllm raises over a request; newer versions have a class of their own for it."""
    try:
        from vllm.exceptions import VLLMClientError
    except ImportError:
        return (ValueError, TypeError)
    return (ValueError, TypeError, VLLMClientError)


def _reply(output: Any, seconds: float) -> Reply:
    said = output.outputs[0]
    return Reply(
        text=said.text,
        finish_reason=said.finish_reason or "",
        tokens_in=len(output.prompt_token_ids),
        tokens_out=len(said.token_ids),
        tokens_reused=output.num_cached_tokens,
        seconds=seconds,
    )


def _say(channel: BinaryIO, message: Line) -> None:
    channel.write(written(message))
    channel.flush()


def _end_with(parent: int) -> None:
    # A parent that was killed closes no pipe that a process forked from it still holds.
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    os.killpg(os.getpgid(0), signal.SIGKILL)


def _is_missing(error: BaseException) -> bool:
    return isinstance(error, ModuleNotFoundError) and error.name == "vllm"


def _first_line(error: BaseException) -> str:
    said = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {said}"[:400]


if __name__ == "__main__":
    main()
