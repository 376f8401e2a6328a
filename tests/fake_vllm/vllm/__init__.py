"""A package in place of vllm, for tests of the process around it: its model is a file of answers.

`LLM(model=FOLDER)` reads FOLDER/answers.json, {the last turn's text: answer}. Words in a prompt make it fail:
see `LLM.chat`.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from vllm.exceptions import VLLMClientError

__version__ = "fake"


class SamplingParams:
    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


class LLM:
    def __init__(self, model: str, **arguments: Any) -> None:
        print("what vllm prints does not get into the pipe")
        if model == "unloadable":
            raise RuntimeError("no such model\nand more of it")
        if model == "slow to load":
            time.sleep(600)
        self.answers = json.loads((Path(model) / "answers.json").read_text())
        (Path(model) / "loaded.json").write_text(
            json.dumps({"arguments": arguments, "pid": os.getpid(), "env": dict(os.environ)})
        )
        self.seen: set[str] = set()

    def chat(self, turns: list[list[dict[str, str]]], parameters: list[Any], use_tqdm: bool) -> list[Any]:
        texts = [turn[-1]["content"] for turn in turns]
        for text in texts:
            if "TOO LONG" in text:
                raise ValueError("The prompt is too long\nfor this model")
            if "UNGUIDED" in text:
                raise VLLMClientError("The schema has features that are not supported")
            if "CRASH" in text:
                print("out of memory", file=sys.stderr, flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            if "BREAK" in text:
                raise RuntimeError("the engine broke")
            if "HANG" in text:
                time.sleep(600)
        return [self._output(turn, each) for turn, each in zip(turns, parameters, strict=True)]

    def _output(self, turns: list[dict[str, str]], parameters: Any) -> Any:
        schema = parameters.structured_outputs.json
        assert schema.get("type") == "object" or "anyOf" in schema
        prompt = "\n".join(turn["content"] for turn in turns)
        words = self.answers.get(turns[-1]["content"], "{}").split(" ")
        cut = len(words) > parameters.max_tokens
        said = SimpleNamespace(
            text=" ".join(words[: parameters.max_tokens]),
            token_ids=words[: parameters.max_tokens],
            finish_reason="length" if cut else "stop",
        )
        reused = 5 if turns[0]["content"] in self.seen else 0
        self.seen.add(turns[0]["content"])
        return SimpleNamespace(prompt_token_ids=prompt.split(" "), num_cached_tokens=reused, outputs=[said])
