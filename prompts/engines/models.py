"""Which models there are to ask: rows of a TOML file, one per model, chosen by name.

`models.toml` beside this module has the rows that ship with the project; a file of the user's own adds rows
and replaces those of the same name. A row names the engine and everything that the engine is started with. A
key is never in a row: a row names the environment variable that holds it.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from prompts.language_model import Sampling
from warehouse.toml_file import TomlFileError, read_toml

MODELS: Final = Path(__file__).with_name("models.toml")
RULES: Final = "rules"
"""the row of the built-in stand-in, the default"""


class ModelFileError(ValueError):
    """A file of models says something that no model can be; the text names file, row and key."""


class UnknownModelError(ValueError):
    """No row has the name that a setting gives."""


class Row(BaseModel):
    """What every row has."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str
    doc: str = Field(default="", description="what the row is for, in a sentence")


class RulesRow(Row):
    """The built-in stand-in: no model at all. It has one name, so that nobody takes it for anything else."""

    name: Literal["rules"]
    engine: Literal["rules"]


class Sampled(Row):
    """A row of an engine with a real model in it."""

    model: str = Field(min_length=1, description="a folder, or the name that the engine knows the model by")
    temperature: float = Field(default=0.0, ge=0, le=2)
    top_p: float = Field(default=1.0, gt=0, le=1)
    seed: int = Field(default=0, ge=0)
    max_tokens: int | None = Field(
        default=None, gt=0, description="no answer may be longer, whatever a request allows"
    )
    show_schema: bool = Field(
        default=True,
        description="whether the system turn ends with the answer's JSON schema: guided decoding keeps an "
        "answer to it and does not show it to the model",
    )
    tokenizer: str | None = Field(
        default=None, description="a tokenizer.json to count tokens with; vllm: the one in the model's folder"
    )
    price_in: float | None = Field(default=None, ge=0, description="of a million prompt tokens")
    price_out: float | None = Field(default=None, ge=0, description="of a million answer tokens")

    @property
    def sampling(self) -> Sampling:
        """How the model draws; greedy draws are the same for every seed and are named so."""
        return Sampling(
            temperature=self.temperature, top_p=self.top_p, seed=self.seed if self.temperature else 0
        )

    def cost(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """What so many tokens cost by the row's prices; null where a price or a count is missing."""
        if self.price_in is None or self.price_out is None or tokens_in is None or tokens_out is None:
            return None
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


class VllmRow(Sampled):
    """A model that vLLM runs on this machine, in a process of its own."""

    engine: Literal["vllm"]
    python: str = Field(
        default="", description="the interpreter that has vllm; by default the one that runs this"
    )
    dtype: str = "auto"
    max_model_len: int | None = Field(default=None, gt=0, description="tokens of prompt and answer together")
    max_num_seqs: int | None = Field(default=None, gt=0, description="answers that are written side by side")
    memory_share: float | None = Field(
        default=None, gt=0, le=1, description="of the GPU's memory; the rest is left to an executor's policy"
    )
    tensor_parallel: int = Field(default=1, gt=0, description="GPUs that one model is spread over")
    devices: str | None = Field(default=None, description="CUDA_VISIBLE_DEVICES of the model's process")
    enforce_eager: bool = False
    cpu_cache_gb: int | None = Field(default=None, gt=0, description="key-value cache of the CPU build")
    cpu_threads: str | None = Field(default=None, description="cores of the CPU build, such as 0-7")
    start_timeout_s: float = Field(default=1800.0, gt=0, description="to load the model")
    batch_timeout_s: float = Field(default=3600.0, gt=0, description="to answer one batch")
    arguments: dict[str, Any] = Field(
        default_factory=dict, description="anything else that vllm.LLM and `vllm serve` take"
    )

    @property
    def interpreter(self) -> str:
        """The interpreter of the model's process."""
        return self.python or sys.executable

    @property
    def engine_arguments(self) -> dict[str, Any]:
        """Keyword arguments of `vllm.LLM`, which `vllm serve` takes as options too."""
        given = {
            "max_model_len": self.max_model_len,
            "max_num_seqs": self.max_num_seqs,
            "gpu_memory_utilization": self.memory_share,
        }
        return {
            "model": self.model,
            "dtype": self.dtype,
            "seed": self.seed,
            "tensor_parallel_size": self.tensor_parallel,
            "enforce_eager": self.enforce_eager,
            # Requests of one role share their system turn, and everything up to it is computed once.
            "enable_prefix_caching": True,
            # Free whitespace lets a small model fill its answer with blanks until it is cut off.
            "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
            **{key: value for key, value in given.items() if value is not None},
            **self.arguments,
        }

    @property
    def environment(self) -> dict[str, str]:
        """What the model's process finds in its environment beside what this one has."""
        given = {
            "CUDA_VISIBLE_DEVICES": self.devices,
            "VLLM_CPU_KVCACHE_SPACE": self.cpu_cache_gb,
            "VLLM_CPU_OMP_THREADS_BIND": self.cpu_threads,
            # A folder is all there is to load; nothing is looked for on a network.
            "HF_HUB_OFFLINE": "1" if Path(self.model).is_dir() else None,
            # One process for one GPU: no second one that could outlive it, and batches that repeat exactly.
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0" if self.tensor_parallel == 1 else None,
            "VLLM_NO_USAGE_STATS": "1",
            "DO_NOT_TRACK": "1",
        }
        return {name: str(value) for name, value in given.items() if value is not None}


class OpenAIRow(Sampled):
    """A model behind an endpoint that speaks the OpenAI protocol: `vllm serve` or a hosted one."""

    engine: Literal["openai"]
    base_url: str = Field(pattern=r"^https?://", description="the endpoint, /v1 included where it has one")
    api_key_env: str | None = Field(
        default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="the variable that holds the key"
    )
    concurrency: int = Field(default=8, gt=0, description="requests that are under way at once")
    timeout_s: float = Field(default=120.0, gt=0, description="for one try at one answer")
    retries: int = Field(
        default=4, ge=0, description="after 408, 409, 429, 5xx, a lost connection or a time-out"
    )
    structured: Literal["json_schema", "json_object", "none"] = Field(
        default="json_schema", description="what response_format may ask of the endpoint"
    )
    object_root: bool = Field(
        default=False,
        description="whether the endpoint refuses a schema with variants at its root, as OpenAI's own does: "
        "they are then folded into one object, and it is left to the parser that they are not mixed",
    )
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    send_sampling: bool = Field(
        default=True, description="false for models that refuse temperature, top_p and seed"
    )
    extra_body: dict[str, Any] = Field(
        default_factory=dict, description="sent with each request, such as a switch of the provider's own"
    )


ModelRow = Annotated[RulesRow | VllmRow | OpenAIRow, Field(discriminator="engine")]
_ROWS: Final[TypeAdapter[RulesRow | VllmRow | OpenAIRow]] = TypeAdapter(ModelRow)


def load_models(own: Path | None = None) -> dict[str, RulesRow | VllmRow | OpenAIRow]:
    """The rows by name: those that ship with the project, then the user's `own` file where there is one."""
    rows = _read(MODELS)
    if own is not None and own.exists():
        rows |= _read(own)
        if not isinstance(rows[RULES], RulesRow):
            raise ModelFileError(f"{own}: [{RULES}] is the stand-in's name; give the model another")
    return rows


def model_row(name: str, own: Path | None = None) -> RulesRow | VllmRow | OpenAIRow:
    """The row of that name; `UnknownModelError` lists the names there are."""
    rows = load_models(own)
    if name not in rows:
        where = f"; {own} is read for more" if own is not None else ""
        raise UnknownModelError(f"no model {name!r}; there are: {', '.join(rows)}{where}")
    return rows[name]


def _read(path: Path) -> dict[str, RulesRow | VllmRow | OpenAIRow]:
    try:
        tables: Mapping[str, Any] = read_toml(path)
    except TomlFileError as error:
        raise ModelFileError(str(error)) from error
    rows = {}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise ModelFileError(f"{path}: {name} stands outside a row; a row begins with [its name]")
        try:
            rows[name] = _ROWS.validate_python({**table, "name": name})
        except ValidationError as error:
            raise ModelFileError(f"{path}: [{name}] {_fault(error)}") from error
    return rows


def _fault(error: ValidationError) -> str:
    # Without the input: somebody may have written a key into the file.
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"][1:])
    match fault["type"]:
        case "union_tag_not_found":
            return "engine: is missing; there are: rules, vllm, openai"
        case "union_tag_invalid":
            return "engine: there are: rules, vllm, openai"
        case "extra_forbidden":
            return f"{where}: no such key for this engine"
        case "missing":
            return f"{where}: is missing"
    return f"{where}: {fault['msg']}"
