"""`mineevolve serve-model`, and what `mineevolve doctor` says of the model."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from pipeline.command.console import MISUSED, explained, fail, out
from pipeline.command.web import attended
from pipeline.settings import Settings
from prompts.engines.models import (
    ModelFileError,
    OpenAIRow,
    RulesRow,
    UnknownModelError,
    VllmRow,
    model_row,
)

_LOOK_S: Final = 3.0


class ModelUnavailableError(RuntimeError):
    """The chosen model could not be asked now; the text says what to do."""


def serve_model(name: str | None, host: str, port: int) -> None:
    """Runs `vllm serve` with the settings of a row until it is interrupted."""
    from prompts.engines.vllm_server import serve_command, serve_environment

    settings = Settings()
    with explained(UnknownModelError, ModelFileError, code=MISUSED):
        row = model_row(name or settings.model, settings.models)
    if not isinstance(row, VllmRow):
        raise fail(
            f"model {row.name} is of the engine {row.engine}; only a model of the engine vllm can be served: "
            f"give it a row in {settings.models}",
            MISUSED,
        )
    with explained(ModelUnavailableError):
        _look_for_vllm(row)
    out.print(
        f"serving {row.name} at http://{host}:{port}/v1 (stop with Ctrl-C). To ask it, put into "
        f"{settings.models}:\n\n"
        f'[{row.name}-served]\nengine = "openai"\nbase_url = "http://{host}:{port}/v1"\n'
        f'model = "{row.name}"\n',
        markup=False,
        soft_wrap=True,
    )
    raise SystemExit(attended(serve_command(row, host, port), os.environ | serve_environment(row)))


def examine_model(name: str, settings: Settings) -> str:
    """What a model is, and that it could be asked; `ModelUnavailableError` says why it could not."""
    row = model_row(name, settings.models)
    match row:
        case RulesRow():
            return "rules, the built-in stand-in: no language model is asked"
        case VllmRow():
            _look_for_vllm(row)
            return f"{row.name}: vllm would load {row.model} with {row.interpreter}"
        case OpenAIRow():
            return f"{row.name}: {_served(row)}"


def _look_for_vllm(row: VllmRow) -> None:
    """Whether the interpreter has vllm (found, not imported: that takes long), and the folder is there."""
    import subprocess
    import sys

    from prompts.engines.vllm_process import missing_vllm

    if row.interpreter == sys.executable:
        found = find_spec("vllm") is not None
    else:
        look = "import importlib.util as u; raise SystemExit(u.find_spec('vllm') is None)"
        try:
            asked = subprocess.run([row.interpreter, "-c", look], capture_output=True, timeout=60)
        except OSError as error:
            raise ModelUnavailableError(f"{row.interpreter} cannot be started: {error.strerror}") from error
        found = asked.returncode == 0
    if not found:
        raise ModelUnavailableError(missing_vllm(row))
    if row.model.startswith(("/", "./", "../", "~")) and not Path(row.model).is_dir():
        raise ModelUnavailableError(f"model {row.name}: there is no folder {row.model}")


def _served(row: OpenAIRow) -> str:
    """What the endpoint says of its models; no answer is asked for, so that a look costs nothing."""
    import openai

    from prompts.engines.openai_client import MissingKeyError, key_of

    try:
        key = key_of(row)
        with openai.OpenAI(base_url=row.base_url, api_key=key, timeout=_LOOK_S, max_retries=0) as client:
            names = [model.id for model in client.models.list()]
    except MissingKeyError as error:
        raise ModelUnavailableError(str(error)) from error
    except openai.NotFoundError:
        return f"{row.base_url} answers, and does not list its models"
    except openai.OpenAIError as error:
        said = type(error).__name__ if row.api_key_env else str(error)
        raise ModelUnavailableError(
            f"model {row.name}: {row.base_url} cannot be asked: {said}; start the server "
            "(`mineevolve serve-model`), or mend base_url or the key"
        ) from error
    # Some providers list their models with a folder before the name that they are asked by.
    if row.model not in {part for name in names for part in (name, name.rpartition("/")[2])}:
        shown = ", ".join(sorted(names)[:8]) or "none"
        raise ModelUnavailableError(f"model {row.name}: {row.base_url} has no {row.model}; it has {shown}")
    return f"{row.base_url} has {row.model}"
