"""Engine `openai`: any endpoint that speaks the OpenAI protocol, through the `openai` client.

The client keeps the connections, retries 408, 409, 429, 5xx, lost connections and time-outs with growing
pauses, and heeds `Retry-After`. Here is what it leaves open: how many requests are under way at once, an end
to an answer that only trickles, and that whatever happens to one request is that request's answer.
"""

import asyncio
import json
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from prompts.engines.identity import name_of, turns_of
from prompts.engines.models import OpenAIRow
from prompts.language_model import ErrorReason, ModelAnswer, ModelRequest, Spent
from prompts.responses import failed_answer, read_answer

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_NO_KEY: Final = "none"
_PAUSES_S: Final = 8.0
"""the longest pause that the client makes before a retry, where the server asks for none"""
_BODY_KEPT: Final = 20_000


class MissingKeyError(RuntimeError):
    """The environment variable that holds a model's key is not set."""


class OpenAIModel:
    """A `LanguageModel`. The key is read when it is needed and is nowhere kept, stored or logged."""

    def __init__(self, row: OpenAIRow) -> None:
        self._row = row
        self.name: str = name_of(row)

    def generate(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer]:
        """One answer per request, in order; `MissingKeyError` before anything is asked where there is no key.

        Whatever else goes wrong is an answer with its error.
        """
        if not requests:
            return []
        key = key_of(self._row)
        # In a thread of its own: the caller may have an event loop of its own running (a notebook has).
        with ThreadPoolExecutor(max_workers=1) as thread:
            return thread.submit(asyncio.run, self._ask_all(requests, key)).result()

    async def _ask_all(self, requests: Sequence[ModelRequest], key: str) -> list[ModelAnswer]:
        from openai import AsyncOpenAI

        slots = asyncio.Semaphore(self._row.concurrency)
        async with AsyncOpenAI(
            base_url=self._row.base_url,
            api_key=key,
            timeout=self._row.timeout_s,
            max_retries=self._row.retries,
        ) as client:

            async def one(request: ModelRequest) -> ModelAnswer:
                async with slots:
                    return await self._ask(client, request, key)

            return list(await asyncio.gather(*map(one, requests)))

    async def _ask(self, client: "AsyncOpenAI", request: ModelRequest, key: str) -> ModelAnswer:
        import openai

        def failed(reason: ErrorReason, detail: str, raw: str = "") -> ModelAnswer:
            # Providers quote the key that they refuse.
            texts = [text.replace(key, "…") if self._row.api_key_env else text for text in (detail, raw)]
            return failed_answer(request, self.name, reason, texts[0], texts[1][:_BODY_KEPT])

        started = time.monotonic()
        body = ""
        try:
            async with asyncio.timeout(self._patience_s):
                for last in (False, True):
                    response = await client.chat.completions.with_raw_response.create(**self._call(request))
                    body = response.text
                    try:
                        return self._read(request, json.loads(body), time.monotonic() - started)
                    except (ValueError, LookupError, TypeError, AttributeError):
                        # Half a body, or one without an answer in it; the client takes both for success.
                        if last:
                            raise
            raise AssertionError("the second try either returns or raises")
        except (TimeoutError, openai.APITimeoutError):
            tries = self._row.retries + 1
            return failed("timeout", f"no answer in {tries} tries of {self._row.timeout_s:g} s", body)
        except openai.APIStatusError as error:
            return failed("engine", f"status {error.status_code}: {_message(error)}", error.response.text)
        except Exception as error:
            # Everything: an endpoint that sends nonsense costs the request it was sent for, and no other.
            cause = f" ({error.__cause__})" if error.__cause__ else ""
            return failed("engine", f"{type(error).__name__}: {error}{cause}", body)

    @property
    def _patience_s(self) -> float:
        """For one request altogether. A try's own limit starts anew with every byte, so that a server which
        sends one now and then would be waited for without an end."""
        return (self._row.timeout_s + _PAUSES_S) * (self._row.retries + 1)

    def _call(self, request: ModelRequest) -> dict[str, Any]:
        row, sampling = self._row, self._row.sampling
        call: dict[str, Any] = {
            "model": row.model,
            "messages": [{"role": role, "content": text} for role, text in turns_of(row, request)],
            row.limit_field: min(row.max_tokens or request.max_tokens, request.max_tokens),
        }
        if row.send_sampling:
            call |= {
                "temperature": sampling.temperature,
                "top_p": sampling.top_p,
                "seed": sampling.seed,
            }
        if row.structured == "json_schema":
            schema = folded(request.json_schema) if row.object_root else request.json_schema
            given = {"name": request.response.__name__, "schema": schema, "strict": True}
            call["response_format"] = {"type": "json_schema", "json_schema": given}
        elif row.structured == "json_object":
            call["response_format"] = {"type": "json_object"}
        if row.extra_body:
            call["extra_body"] = dict(row.extra_body)
        return call

    def _read(self, request: ModelRequest, body: Any, seconds: float) -> ModelAnswer:
        """The answer in a completion; `LookupError`, `TypeError` or `AttributeError` where it has none."""
        choice = body["choices"][0]
        message = choice["message"]
        usage = body.get("usage") or {}
        details = usage.get("prompt_tokens_details") or {}
        tokens_in, tokens_out = usage.get("prompt_tokens"), usage.get("completion_tokens")
        refusal = message.get("refusal")
        return read_answer(
            request,
            self.name,
            refusal or message.get("content") or "",
            finish_reason="refusal" if refusal else choice.get("finish_reason") or "stop",
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            spent=Spent(
                seconds=seconds,
                tokens_reused=details.get("cached_tokens"),
                cost=self._row.cost(tokens_in, tokens_out),
            ),
        )


def folded(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose root is one object, for endpoints that take no other: of variants at the root, which
    must be references to closed objects with the same fields, every field may be what it is in any of them.

    >>> folded({"type": "object", "properties": {}})
    {'type': 'object', 'properties': {}}
    """
    if "anyOf" not in schema:
        return schema
    defined = schema["$defs"]
    names = [variant["$ref"].rpartition("/")[2] for variant in schema["anyOf"]]
    first, *others = (defined[name] for name in names)
    fields: dict[str, Any] = {}
    for field, own in first["properties"].items():
        kinds = [own, *(other["properties"][field] for other in others)]
        distinct = [kind for place, kind in enumerate(kinds) if kind not in kinds[:place]]
        fields[field] = own if len(distinct) == 1 else {"anyOf": distinct}
    return {
        **first,
        "title": schema["title"],
        "description": schema["description"],
        "properties": fields,
        "$defs": {name: each for name, each in defined.items() if name not in names},
    }


def key_of(row: OpenAIRow) -> str:
    """The key, from the variable that the row names; `MissingKeyError` where that is not set."""
    if row.api_key_env is None:
        return _NO_KEY
    key = os.environ.get(row.api_key_env, "").strip()
    if not key:
        raise MissingKeyError(f"model {row.name} needs a key: set {row.api_key_env} to it")
    return key


def _message(error: Any) -> str:
    """What a provider says of an error, without the rest of its body."""
    body = error.body
    said = body.get("message") if isinstance(body, dict) else None
    return str(said or error.message)
