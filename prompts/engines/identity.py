"""What a model is called where its answers are kept, and what it is told beside the request's own words."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import orjson

from prompts.engines.models import OpenAIRow, VllmRow
from prompts.language_model import ModelRequest
from warehouse.ids import digest

_SMALL: Final = 1 << 24
_SAMPLE: Final = 1 << 20


def name_of(row: VllmRow | OpenAIRow) -> str:
    """Engine, model, and a digest of whatever else in the row changes an answer: part of every cache key.

    A folder is known by its files and not by its place. A hosted model is known by its endpoint and name,
    so that what its provider changes behind them goes unnoticed.
    """
    said: dict[str, Any] = {
        "sampling": row.sampling,
        "max_tokens": row.max_tokens,
        "show_schema": row.show_schema,
    }
    if isinstance(row, OpenAIRow):
        changing = {"structured", "object_root", "limit_field", "send_sampling", "extra_body"}
        sent = row.model_dump(include=changing)
        host = urlsplit(row.base_url).hostname
        return f"openai/{row.model}@{host}/{digest([said, sent])[:12]}"
    folder = Path(row.model)
    weights = folder_digest(folder) if folder.is_dir() else row.model
    shown = folder.resolve().name if folder.is_dir() else row.model
    # How the engine is spread over hardware is left out: it is not meant to change what is said.
    runs = {"dtype": row.dtype, "max_model_len": row.max_model_len, "arguments": row.arguments}
    return f"vllm/{shown}/{digest([said, weights, runs])[:12]}"


def folder_digest(folder: Path) -> str:
    """Digest of a model's folder: every file's name and size, the content of those up to 16 MiB (settings,
    tokenizer, chat template), and of larger ones the first and the last MiB, which two sets of weights share
    only if they are the same."""
    whole = sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        size = path.stat().st_size
        whole.update(f"{path.name}\0{size}\0".encode())
        with path.open("rb") as file:
            if size <= _SMALL:
                whole.update(file.read())
            else:
                whole.update(file.read(_SAMPLE))
                file.seek(-_SAMPLE, 2)
                whole.update(file.read(_SAMPLE))
    return whole.hexdigest()


def turns_of(
    row: VllmRow | OpenAIRow, request: ModelRequest
) -> Iterator[tuple[Literal["system", "user"], str]]:
    """The request's turns, with the schema at the end of the system turn where the row wants it shown. It is
    the same for all requests of a role, so a prefix cache holds it."""
    system = request.system
    if row.show_schema:
        schema = orjson.dumps(request.json_schema).decode()
        system = f"{system}\n\nThe schema of the answer:\n{schema}".lstrip()
    if system:
        yield "system", system
    for message in request.messages:
        if message.speaker == "user":
            yield "user", message.text
