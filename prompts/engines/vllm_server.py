"""`vllm serve` with the settings of a model's row: one model for several runs, or on another machine."""

from collections.abc import Iterator
from typing import Any

import orjson

from prompts.engines.models import VllmRow

_IN_PROCESS = "VLLM_ENABLE_V1_MULTIPROCESSING"


def serve_command(row: VllmRow, host: str, port: int) -> list[str]:
    """The command that serves the row's model under the row's name."""
    return [
        row.interpreter,
        "-m",
        "vllm.entrypoints.openai.api_server",
        *("--host", host, "--port", str(port), "--served-model-name", row.name),
        *_options(row.engine_arguments),
    ]


def serve_environment(row: VllmRow) -> dict[str, str]:
    """What the server finds in its environment. It has processes of its own whatever the model's size."""
    return {name: value for name, value in row.environment.items() if name != _IN_PROCESS}


def _options(arguments: dict[str, Any]) -> Iterator[str]:
    """Keyword arguments of `vllm.LLM` as options of the server."""
    for name, value in arguments.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{option}" if value else f"--no-{option}"
        else:
            yield f"--{option}"
            yield value if isinstance(value, str) else orjson.dumps(value).decode()
