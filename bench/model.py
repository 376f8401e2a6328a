"""How much of vLLM's own speed is left when Inducer asks through the engine `vllm`.

    python -m bench.model small            # a row of the engine vllm in models.toml
    python -m bench.model small --questions 64 --max-tokens 256

The same prompts, schemas and sampling go once through the engine, batches, pipe, parsing and all, and once
straight to `LLM.chat` in the same interpreter; both have loaded the model and answered one other question
before the clock starts, and both begin with an empty prefix cache for what is measured. The prompts are
Inducer's, of made-up feedback. What is compared is tokens per second, prompt and answer together.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from pipeline.settings import Settings
from prompts.engines.identity import turns_of
from prompts.engines.models import VllmRow, model_row
from prompts.engines.vllm_process import VllmModel, VllmProcess
from prompts.inducer import requests_for
from prompts.language_model import Message, ModelRequest
from warehouse.domains import Domain, load_domain
from warehouse.facts import Cause, Evidence, FeedbackFact

GOAL: Final = 0.95

DIRECT: Final = """
import json, sys, time
if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        given = json.load(file)
    from vllm import LLM, SamplingParams
    from vllm.sampling_params import StructuredOutputsParams
    llm = LLM(**given["arguments"])
    def ask(questions):
        guides = [StructuredOutputsParams(json=each["schema"]) for each in questions]
        parameters = [
            SamplingParams(**each["sampling"], structured_outputs=guide)
            for each, guide in zip(questions, guides)
        ]
        return llm.chat([each["turns"] for each in questions], parameters, use_tqdm=False)
    ask(given["questions"][:1])
    started = time.monotonic()
    outputs = ask(given["questions"][1:])
    seconds = time.monotonic() - started
    tokens = [len(o.prompt_token_ids) + len(o.outputs[0].token_ids) for o in outputs]
    with open(sys.argv[2], "w") as file:
        json.dump({"seconds": seconds, "tokens": sum(tokens)}, file)
"""


def questions(domain: Domain, count: int, max_tokens: int) -> list[ModelRequest]:
    """A question to warm up with, of its own words from the first on, and `count` others of one role."""
    targets = sorted(domain.items)[: count + 1]
    facts = [
        FeedbackFact(
            feedback_id=f"{number:020x}",
            episode_id=f"{number:020x}",
            attempt=0,
            build="bench",
            kind="craft",
            target=target,
            needed=1,
            y=False,
            failure_type="MISSING_STATION",
            missing=("crafting_table",),
            causes=(Cause("MISSING_STATION", "crafting_table", None, {}, Evidence(3, 1, "no table nearby")),),
            stagnant=True,
            remedy_due=True,
            evidence=Evidence(3, 1, "no table nearby"),
        )
        for number, target in enumerate(targets)
    ]
    first, *others = (replace(each, max_tokens=max_tokens) for each in requests_for(facts, domain))
    warm = Message("system", f"A question to begin with. {first.system}")
    return [replace(first, messages=(warm, *first.messages[1:])), *others]


def through_the_engine(row: VllmRow, asked: Sequence[ModelRequest]) -> tuple[float, int, float | None]:
    """Seconds, tokens, and the share of prompt tokens that the prefix cache served."""
    with VllmProcess(row) as process:
        model = VllmModel(row, process)
        warm = model.generate(asked[:1])
        if warm[0].error is not None and warm[0].error.reason in ("engine", "timeout"):
            raise SystemExit(f"the model cannot be asked: {warm[0].error.detail}")
        started = time.monotonic()
        answers = model.generate(asked[1:])
        seconds = time.monotonic() - started
    tokens_in = sum(answer.tokens_in or 0 for answer in answers)
    reused = sum(answer.spent.tokens_reused or 0 for answer in answers)
    tokens = tokens_in + sum(answer.tokens_out or 0 for answer in answers)
    return seconds, tokens, reused / tokens_in if tokens_in else None


def straight(row: VllmRow, asked: Sequence[ModelRequest]) -> tuple[float, int]:
    """Seconds and tokens of the same questions, put to `LLM.chat`."""
    import os

    sampling = row.sampling
    given: dict[str, Any] = {
        "arguments": row.engine_arguments,
        "questions": [
            {
                "turns": [{"role": role, "content": text} for role, text in turns_of(row, each)],
                "schema": each.json_schema,
                "sampling": {
                    "temperature": sampling.temperature,
                    "top_p": sampling.top_p,
                    "seed": sampling.seed,
                    "max_tokens": min(row.max_tokens or each.max_tokens, each.max_tokens),
                },
            }
            for each in asked
        ],
    }
    with tempfile.TemporaryDirectory() as name:
        script, question, answer = (Path(name) / part for part in ("direct.py", "asked.json", "said.json"))
        script.write_text(DIRECT)
        question.write_text(json.dumps(given))
        command = [row.interpreter, str(script), str(question), str(answer)]
        subprocess.run(command, check=True, env=os.environ | row.environment, stdout=sys.stderr)
        said = json.loads(answer.read_text())
    return float(said["seconds"]), int(said["tokens"])


def main(
    name: Annotated[str, typer.Argument(help="a row of the engine vllm")],
    count: Annotated[int, typer.Option("--questions", min=1, help="how many are asked together")] = 64,
    max_tokens: Annotated[int, typer.Option(min=1, help="of an answer")] = 256,
) -> None:
    """Compare induction through the engine with the same prompts given straight to LLM.chat."""
    settings = Settings()
    row = model_row(name, settings.models)
    if not isinstance(row, VllmRow):
        raise SystemExit(f"model {name} is of the engine {row.engine}, and vLLM is what is measured")
    asked = questions(load_domain(settings.domain), count, max_tokens)
    direct_s, direct_tokens = straight(row, asked)
    ours_s, ours_tokens, reused = through_the_engine(row, asked)
    ours, direct = ours_tokens / ours_s, direct_tokens / direct_s
    table = Table(title=f"{count} questions to {name}, at most {max_tokens} tokens each")
    for column in ("", "seconds", "tokens", "tokens/s"):
        table.add_column(column, justify="right" if column else "left")
    table.add_row("LLM.chat", f"{direct_s:.1f}", str(direct_tokens), f"{direct:.0f}")
    table.add_row("engine vllm", f"{ours_s:.1f}", str(ours_tokens), f"{ours:.0f}")
    out = Console()
    out.print(table)
    share = "unknown" if reused is None else f"{reused:.0%}"
    out.print(f"ratio {ours / direct:.3f} (goal {GOAL}); prefix cache: {share} of the prompt tokens")
    raise typer.Exit(0 if ours / direct >= GOAL else 1)


if __name__ == "__main__":
    typer.run(main)
