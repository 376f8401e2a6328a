"""How much of vLLM's own speed is left when Inducer asks through the engine `vllm`.

    python -m bench.model                  # the small model of `make test-vllm`, on the CPU
    python -m bench.model qwen             # a row of the engine vllm in models.toml
    python -m bench.model qwen --questions 64 --repetitions 5

Both ways have the model loaded, each in a process of its own with the same settings. In every repetition
both get the same new questions, of feedback that is made up, one way after the other, and in the next
repetition in the other order:

- the engine: from feedback to candidates, that is rendering, the pipe, one batch, reading the answers;
- straight: the same turns, schemas and sampling in one `LLM.chat`, and only that call is timed.

At temperature 0 both should say the same; the table tells how many answers were. What is compared are tokens
of answers per second of wall time, all repetitions together. The system turn is new to both in the first
repetition and known to the prefix cache from then on, as it is in a run.
"""

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO, Annotated, Any, Final, NamedTuple, Self

import typer
from rich.console import Console
from rich.table import Table

from pipeline.settings import Settings
from prompts.engines.identity import turns_of
from prompts.engines.models import VllmRow, model_row
from prompts.engines.vllm_process import VllmModel, VllmProcess
from prompts.inducer import requests_for
from prompts.language_model import LanguageModel, Message, ModelRequest
from prompts.responses import candidate_from
from warehouse.domains import Domain, load_domain
from warehouse.facts import Cause, Evidence, FeedbackFact

GOAL: Final = 0.95
QUESTIONS: Final = 16
REPETITIONS: Final = 4
ENVIRONMENT: Final = Path(__file__).resolve().parents[1] / ".venv-vllm"
SMALL: Final = "smollm2-135m-instruct"
STRAIGHT: Final = Path(__file__).with_name("straight.py")
_BOTH_ON_ONE_GPU: Final = 0.42


class Asked(NamedTuple):
    """One batch, answered: wall seconds, those of them in `LLM.chat`, tokens; `said` has each answer's text
    and tokens."""

    seconds: float
    chat_s: float
    tokens_in: int
    tokens_reused: int
    said: tuple[tuple[str, int], ...]

    @property
    def tokens_out(self) -> int:
        """Tokens of the answers."""
        return sum(tokens for _, tokens in self.said)


class Pair(NamedTuple):
    """One repetition, both ways."""

    engine: Asked
    straight: Asked


class Measured(NamedTuple):
    """All repetitions."""

    row: VllmRow
    questions: int
    pairs: tuple[Pair, ...]

    def rate(self, way: str) -> float:
        """Tokens of answers per second, all repetitions together."""
        each: list[Asked] = [getattr(pair, way) for pair in self.pairs]
        return sum(one.tokens_out for one in each) / sum(one.seconds for one in each)

    @property
    def ratio(self) -> float:
        """The engine's rate over that of `LLM.chat`."""
        return self.rate("engine") / self.rate("straight")

    @property
    def ratios(self) -> tuple[float, ...]:
        """The same of each repetition; far apart, they tell of a busy machine and not of the engine."""
        return tuple(self._replace(pairs=(pair,)).ratio for pair in self.pairs)

    @property
    def alike(self) -> int:
        """Answers that were the same both ways."""
        both = [
            one == other
            for pair in self.pairs
            for one, other in zip(pair.engine.said, pair.straight.said, strict=True)
        ]
        return sum(both)

    @property
    def met(self) -> bool:
        """Whether the goal is reached, with the same answers."""
        return self.ratio >= GOAL and self.alike == self.questions * len(self.pairs)


def feedback(domain: Domain, repetition: int, count: int) -> list[FeedbackFact]:
    """Failures that make `count` questions. Every repetition has its own targets; 0 is to warm up."""
    targets = sorted(domain.items)[repetition * count : (repetition + 1) * count]
    if len(targets) < count:
        raise SystemExit(f"{domain.name} has too few items for so many questions and repetitions")
    return [
        FeedbackFact(
            feedback_id=f"{repetition:010x}{number:010x}",
            episode_id=f"{repetition:010x}{number:010x}",
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


def through_the_engine(model: LanguageModel, facts: Sequence[FeedbackFact], domain: Domain) -> Asked:
    """One batch of Inducer's, from feedback to candidates."""
    started = time.perf_counter()
    requests = requests_for(facts, domain)
    answers = model.generate(requests)
    for request, answer in zip(requests, answers, strict=True):
        candidate_from(request, answer, "bench")
    seconds = time.perf_counter() - started
    lost = [
        answer.error for answer in answers if answer.error and answer.error.reason in ("engine", "timeout")
    ]
    if lost:
        raise SystemExit(f"the model cannot be asked: {lost[0].detail}")
    return Asked(
        seconds=seconds,
        chat_s=max(answer.spent.seconds or 0.0 for answer in answers),
        tokens_in=sum(answer.tokens_in or 0 for answer in answers),
        tokens_reused=sum(answer.spent.tokens_reused or 0 for answer in answers),
        said=tuple((answer.raw, answer.tokens_out or 0) for answer in answers),
    )


class Straight:
    """`LLM.chat` in a process of its own; a context manager."""

    def __init__(self, row: VllmRow) -> None:
        self._row = row
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the process
        self._process = subprocess.Popen(
            [row.interpreter, str(STRAIGHT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=os.environ | row.environment,
        )
        self._heard(row.engine_arguments)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._log.close()

    def ask(self, requests: Sequence[ModelRequest]) -> Asked:
        """The requests as one batch."""
        heard = self._heard([self._question(request) for request in requests])
        return Asked(
            seconds=heard["seconds"],
            chat_s=heard["seconds"],
            tokens_in=heard["tokens_in"],
            tokens_reused=heard["tokens_reused"],
            said=tuple((text, tokens) for text, tokens in heard["said"]),
        )

    def _question(self, request: ModelRequest) -> dict[str, Any]:
        row, sampling = self._row, self._row.sampling
        return {
            "turns": [{"role": role, "content": text} for role, text in turns_of(row, request)],
            "schema": request.json_schema,
            "sampling": {
                "temperature": sampling.temperature,
                "top_p": sampling.top_p,
                "seed": sampling.seed,
                "max_tokens": min(row.max_tokens or request.max_tokens, request.max_tokens),
            },
        }

    def _heard(self, message: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._log.seek(0)
            last = self._log.read().decode(errors="replace").strip().splitlines()[-1:]
            raise SystemExit(f"LLM.chat ended: {''.join(last)}")
        heard: dict[str, Any] = json.loads(line)
        return heard


def measure(
    row: VllmRow, domain: Domain, questions: int, repetitions: int, tell: Callable[[str], None]
) -> Measured:
    """Both ways, repetition after repetition, after one question that only warms up; `tell` hears how far it
    is."""
    pairs = []
    tell("loading the model twice")
    with ExitStack() as stack:
        process = stack.enter_context(VllmProcess(row))
        model = VllmModel(row, process)
        straight = stack.enter_context(Straight(row))
        warm = [_unlike_the_others(each) for each in requests_for(feedback(domain, 0, questions)[:1], domain)]
        model.generate(warm)
        straight.ask(warm)
        for repetition in range(1, repetitions + 1):
            facts = feedback(domain, repetition, questions)
            same = requests_for(facts, domain)
            if repetition % 2:
                engine = through_the_engine(model, facts, domain)
                pairs.append(Pair(engine, straight.ask(same)))
            else:
                other = straight.ask(same)
                pairs.append(Pair(through_the_engine(model, facts, domain), other))
            tell(f"repetition {repetition} of {repetitions}: {_in_short(pairs[-1])}")
    return Measured(row, questions, tuple(pairs))


def _in_short(pair: Pair) -> str:
    return f"engine {pair.engine.seconds:.1f} s, LLM.chat {pair.straight.seconds:.1f} s"


def _unlike_the_others(request: ModelRequest) -> ModelRequest:
    # From its first words on, so that the prefix cache learns nothing from it that is measured later.
    system, *rest = request.messages
    return replace(request, messages=(Message("system", f"To begin with: {system.text}"), *rest))


def report(measured: Measured) -> Table:
    """The figures as a table, a repetition in each row; "outside" is the engine's time beside `LLM.chat`."""
    table = Table(
        title=f"induction through the engine vllm: {measured.questions} questions to {measured.row.name}"
    )
    headings = (
        "",
        "prompt tok",
        "cached",
        "answer tok",
        "engine s",
        "outside chat s",
        "LLM.chat s",
        "ratio",
        "same",
    )
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left")
    together = zip(measured.pairs, measured.ratios, strict=True)
    for number, ((engine, straight), ratio) in enumerate(together, 1):
        same = sum(one == other for one, other in zip(engine.said, straight.said, strict=True))
        table.add_row(
            str(number),
            f"{engine.tokens_in:,}",
            f"{engine.tokens_reused / engine.tokens_in:.0%}",
            f"{engine.tokens_out:,}",
            f"{engine.seconds:.2f}",
            f"{engine.seconds - engine.chat_s:.3f}",
            f"{straight.seconds:.2f}",
            f"{ratio:.3f}",
            f"{same}/{measured.questions}",
        )
    return table


def verdict(measured: Measured) -> str:
    """The figures of all repetitions in three lines."""
    engine = [pair.engine for pair in measured.pairs]
    outside = statistics.median(1 - each.chat_s / each.seconds for each in engine)
    reused = sum(each.tokens_reused for each in engine) / sum(each.tokens_in for each in engine)
    rates = f"engine {measured.rate('engine'):.2f}, LLM.chat {measured.rate('straight'):.2f} answer tokens/s"
    same = f"{measured.alike} of {measured.questions * len(engine)} answers the same"
    return (
        f"{rates}: ratio {measured.ratio:.3f} (goal {GOAL}: {'met' if measured.met else 'missed'})\n"
        f"{same}; single repetitions {min(measured.ratios):.3f} to {max(measured.ratios):.3f}\n"
        f"prefix cache: {reused:.0%} of the prompt tokens; "
        f"{outside:.2%} of the engine's time is outside LLM.chat"
    )


def small_row() -> VllmRow | None:
    """The small model of `make test-vllm`, where its environment has been made."""
    python, model = ENVIRONMENT / "bin" / "python", ENVIRONMENT / SMALL
    if not (python.exists() and model.exists()):
        return None
    return VllmRow(
        name="small",
        engine="vllm",
        model=str(model),
        python=str(python),
        dtype="float32",
        max_model_len=8192,
        max_num_seqs=16,
        show_schema=False,
        enforce_eager=True,
        cpu_cache_gb=2,
        cpu_threads=os.environ.get("VLLM_CPU_OMP_THREADS_BIND", f"0-{(os.cpu_count() or 1) - 1}"),
    )


def main(row: VllmRow | None = None, questions: int = QUESTIONS, repetitions: int = REPETITIONS) -> int:
    """Measure and print; 1 if the goal is missed, 0 where there is no model to ask, which is said."""
    out = Console()
    row = row or small_row()
    if row is None:
        out.print(
            "model: not measured. Its bench needs vllm and a small model in an environment of their own "
            f"({ENVIRONMENT.name}), which `make test-vllm` makes."
        )
        return 0
    if row.cpu_cache_gb is None:
        # Two engines at once, and vllm would take nearly the whole GPU for each.
        row = row.model_copy(update={"memory_share": min(row.memory_share or 1.0, _BOTH_ON_ONE_GPU)})
    measured = measure(row, load_domain(Settings().domain), questions, repetitions, out.print)
    out.print(report(measured))
    out.print(verdict(measured))
    return 0 if measured.met else 1


def run(
    name: Annotated[
        str | None, typer.Argument(help="A row of the engine vllm; by default the small model.")
    ] = None,
    questions: Annotated[int, typer.Option(min=1, help="How many are asked together.")] = QUESTIONS,
    repetitions: Annotated[int, typer.Option(min=1, help="How often, with new questions.")] = REPETITIONS,
) -> None:
    """Compare induction through the engine vllm with the same prompts given straight to LLM.chat."""
    row = model_row(name, Settings().models) if name else None
    if row is not None and not isinstance(row, VllmRow):
        raise SystemExit(f"model {name} is of the engine {row.engine}, and vLLM is what is measured")
    raise typer.Exit(main(row, questions, repetitions))


if __name__ == "__main__":
    typer.run(run)
