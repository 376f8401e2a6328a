"""`mineevolve model`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import polars as pl

    from rollouts.model_score.judging import Score

app = typer.Typer(help="Language models and how well they answer.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Commands on language models."""


@app.command()
def score(
    model: Annotated[
        str | None, typer.Option(help="a row of models.toml; without one, MINEEVOLVE_MODEL's")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="list every situation, not only the sums")] = False,
    written: Annotated[
        Path | None,
        typer.Option("--out", help="write a row per situation here: .csv, .parquet or .json by its ending"),
    ] = None,
) -> None:
    """Ask a model for a remedy in 40 situations whose right answer is known, and score what it says.

    Each situation is a failure that is made in the built-in world and asked about as Inducer asks. Scored is
    whether the answer has the form that was asked for, whether Curator accepts its remedy, whether it names
    the right cause, and whether the repair, carried out, lets the failed subgoal succeed: k of n with a 95 %
    Wilson interval each. Answers are remembered as everywhere, and kept below model_scores/ in the data home.

    Exits with 1 when the model gave no answer at all.

    Examples:

    * `mineevolve model score`
    * `mineevolve model score --model qwen --all`
    * `mineevolve model score --model qwen --out qwen.csv`
    """
    from pipeline.command.console import MISUSED, explained, fail, own_terminal
    from pipeline.settings import Settings
    from prompts.answering import answering
    from prompts.engines.models import ModelFileError, UnknownModelError, model_row
    from rollouts.model_score.judging import score as judged
    from rollouts.model_score.playing import BUILD, failures
    from rollouts.model_score.recording import record
    from rollouts.progress import progress_on
    from rollouts.worlds.techtree.situations import load_situations
    from warehouse.domains import load_domain

    if written is not None and written.suffix not in _WRITERS:
        raise fail(f"--out {written}: the name must end in {', '.join(_WRITERS)}", MISUSED)
    settings = Settings()
    with explained(UnknownModelError, ModelFileError, code=MISUSED):
        row = model_row(model or settings.model, settings.models)
    domain = load_domain(settings.domain)
    with progress_on(own_terminal()), answering(row, domain, settings.home, BUILD) as models:
        result = judged(failures(load_situations(), domain), models(settings.seed), domain)
    folder = record(settings.home, result)
    _show(row.name, result, every=every)
    _tell(row.name, result, folder)
    if written is not None:
        _write(result.verdicts, written)
    if result.unanswered == result.verdicts.height:
        first = result.answers["error_detail"].drop_nulls().head(1).to_list() or ["no reason given"]
        raise fail(f"{row.name} gave no answer: {first[0]}; `mineevolve doctor` says if it can be asked")


def _show(name: str, result: "Score", *, every: bool) -> None:
    import polars as pl

    from pipeline.command.console import show

    intervals = [rate.interval for rate in result.rates.values()]
    written = [f"{each[0]:.3f}–{each[1]:.3f}" if each else None for each in intervals]
    table = result.table.drop("low", "high").with_columns(pl.Series("95 %", written, pl.String))
    show(table, f"{name}: remedies in {result.verdicts.height} situations")
    show(result.by_failure_type, "By failure type")
    if every:
        columns = ("situation", "valid", "accepted", "cause", "removed")
        show(result.verdicts.select(*columns), "Every situation")
        wrong = result.verdicts.filter(pl.col("all_four").not_().fill_null(True))
        told = ("situation", "failure_type", "repair", "why_not")
        show(wrong.select(*told), "What was said, where not all four")


def _tell(name: str, result: "Score", folder: Path) -> None:
    from pipeline.command.console import out
    from prompts.engines.models import RULES

    again = int((result.verdicts["tries"] > 1).sum())
    out.print(
        f"{result.answers.height} answers by {result.model}, {again} of them second tries; kept in {folder}.",
        soft_wrap=True,
        markup=False,
    )
    if result.unanswered:
        out.print(f"{result.unanswered} situations got no answer from the engine and are in no figure.")
    standing = "techtree, in which repairs are carried out, is a stand-in for the game."
    if name == RULES:
        standing += (
            " rules is a stand-in for a language model: it answers by rule from the game's facts, and its "
            "score says nothing of any model."
        )
    out.print(standing, soft_wrap=True)


_WRITERS = {".csv": "write_csv", ".json": "write_json", ".parquet": "write_parquet"}


def _write(verdicts: "pl.DataFrame", path: Path) -> None:
    import polars as pl

    from pipeline.command.console import explained, out
    from warehouse.shards import replacing

    # A list has no form in CSV.
    flat = verdicts.with_columns(pl.col("repair").list.join("; ")) if path.suffix == ".csv" else verdicts
    with explained(OSError), replacing(path) as temporary:
        getattr(flat, _WRITERS[path.suffix])(temporary)
    out.print(f"{verdicts.height} situations are in {path}.", soft_wrap=True)
