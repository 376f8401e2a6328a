"""The command's tree. Subcommands import what they need when they are called: `--help` stays fast."""

import errno
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pipeline.command import curriculum, knowledge, model, monitor, snapshot, study, tasks, warehouse
from pipeline.command.options import (
    Agent,
    AnyModel,
    Backend,
    Build,
    Cap,
    Episodes,
    Groups,
    Planners,
    RayAddress,
    SuiteName,
    Tasks,
    Workers,
    WorldSeed,
    where,
)
from pipeline.failures import class_of, is_expected
from warehouse.suites import DEFAULT_SUITE


class Explaining(TyperGroup):
    """Shows an expected failure of any command as one line; a defect keeps its traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            # A closed pipe (`mineevolve sql … | head`) is the business of typer, which ends quietly.
            if not is_expected(class_of(error)) or getattr(error, "errno", None) == errno.EPIPE:
                raise
            from pipeline.command.console import fail

            raise fail(str(error)) from error


app = typer.Typer(
    name="mineevolve",
    cls=Explaining,
    help="Trajectories in, typed feedback and curated knowledge out.\n\n"
    "Everything is written below data/ (moved by MINEEVOLVE_DATA). Exit codes: 0 done, 1 failed or a check "
    "did not hold, 2 called wrongly, 3 done but input was put aside (with --strict).",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_show_locals=False,
)
app.add_typer(knowledge.app, name="knowledge")
app.add_typer(snapshot.app, name="snapshot")
app.add_typer(tasks.app, name="tasks")
app.add_typer(model.app, name="model")
app.add_typer(monitor.app, name="monitor")
app.add_typer(warehouse.app, name="warehouse")
app.add_typer(study.app, name="study")
app.add_typer(curriculum.app, name="curriculum")

Format = Annotated[str | None, typer.Option("--format", help="name the format instead of recognising it")]
Strict = Annotated[bool, typer.Option("--strict", help="exit with 3 when input was put in quarantine")]


@app.command()
def run(
    traces: Annotated[
        list[Path] | None,
        typer.Option(help="a folder of recordings; may be given several times"),
    ] = None,
    build: Build = None,
    format_name: Format = None,
    strict: Strict = False,
) -> None:
    """Traces in, curated knowledge out: the whole pipeline through the Dagster graph.

    Without `--traces` a build learns again from what was imported into it; one that is empty gets a small
    sample that ships with the project, and the command says so. MINEEVOLVE_REVIEWER=NAME names a model that
    reviews what the checks accepted and may refuse it (default: no review).

    Examples:

    * `mineevolve run --traces ../shared/traces/voyager_questllama`
    * `mineevolve run --traces runs/a --traces runs/b --build 0002`
    * `mineevolve run`
    * `MINEEVOLVE_REVIEWER=qwen mineevolve run --traces runs/a`
    """
    from pipeline.command.main_job import main_job

    main_job(traces or [], build, format_name, strict=strict, learn=True)


@app.command()
def ingest(
    path: Annotated[list[Path], typer.Argument(help="a folder of recordings")],
    build: Build = None,
    format_name: Format = None,
    strict: Strict = False,
) -> None:
    """Import recordings and turn them into feedback, without learning from them.

    Formats (voyager, minestudio, vpt, minerl, native) are recognised by content. Importing the same folder
    again changes nothing; a folder of the same name replaces what it brought before.

    Examples:

    * `mineevolve ingest ../shared/traces/minestudio_openha`
    * `mineevolve ingest recordings --format vpt --strict`
    """
    from pipeline.command.main_job import main_job

    main_job(path, build, format_name, strict=strict, learn=False)


@app.command()
def loop(
    builds: Annotated[int, typer.Option(min=1, max=99, help="how often to play and learn")] = 3,
    episodes: Annotated[int, typer.Option(min=1, help="training worlds per task and build")] = 1,
    worlds: Annotated[int, typer.Option(min=1, help="evaluation worlds per task")] = 3,
    planners: Annotated[int, typer.Option(min=1, help="planner seeds that take turns")] = 3,
    group: Groups = None,
    suite: SuiteName = DEFAULT_SUITE,
    task: Tasks = None,
    agent: Agent = "full",
    workers: Workers = 2,
    backend: Backend = None,
    ray_address: RayAddress = None,
    horizon_cap: Cap = None,
    seed: WorldSeed = 0,
    any_model: AnyModel = False,
) -> None:
    """The closed loop: play, learn, play with what was learned, and show what the knowledge is worth.

    Each build plays the suite with the snapshot of the build before. Then the empty store and every snapshot
    are evaluated in the same worlds, which nothing was learnt in, and a report is written. Run it again after
    it was stopped and it goes on where it was. MINEEVOLVE_REVIEWER=NAME names a model that reviews what the
    checks accepted and may refuse it (default: no review).

    Examples:

    * `mineevolve loop`
    * `mineevolve loop --builds 2 --group wooden --group stone --worlds 5`
    * `mineevolve loop --backend ray --workers 0`
    """
    from pipeline.command.loop import loop as closed_loop

    options = {"suite": suite, "tasks": task or [], "episodes": episodes, "planners": planners}
    options |= {"agent": agent, "workers": workers, "horizon_cap": horizon_cap, "seed": seed}
    options |= {"any_model": any_model}
    closed_loop(builds, group or [], worlds, options, where(backend, ray_address))


@app.command()
def train(
    build: Build = None,
    group: Groups = None,
    suite: SuiteName = DEFAULT_SUITE,
    task: Tasks = None,
    episodes: Episodes = 3,
    planners: Planners = 1,
    agent: Agent = "full",
    workers: Workers = 2,
    backend: Backend = None,
    ray_address: RayAddress = None,
    horizon_cap: Cap = None,
    seed: WorldSeed = 0,
    any_model: AnyModel = False,
) -> None:
    """Play task groups in the built-in world, judge what happened, and learn from the build.

    A build plays with the snapshot that the build before it published; the first starts with nothing. Run it
    again after it was stopped and it goes on where it was. MINEEVOLVE_REVIEWER=NAME names a model that
    reviews what the checks accepted and may refuse it (default: no review).

    Examples:

    * `mineevolve train --build 0001 --group wooden`
    * `mineevolve train --build 0002 --group wooden --group stone --episodes 5`
    * `mineevolve train --build 0003 --backend ray --workers 0`
    """
    from pipeline.command import rollouts

    options = {"suite": suite, "tasks": task or [], "episodes": episodes, "planners": planners}
    options |= {"agent": agent, "workers": workers, "horizon_cap": horizon_cap, "seed": seed}
    options |= {"any_model": any_model}
    rollouts.train(build, group or [], options, where(backend, ray_address))


@app.command()
def evaluate(
    build: Build = None,
    group: Groups = None,
    suite: SuiteName = DEFAULT_SUITE,
    task: Tasks = None,
    episodes: Episodes = 3,
    planners: Planners = 1,
    agent: Agent = "full",
    workers: Workers = 2,
    backend: Backend = None,
    ray_address: RayAddress = None,
    horizon_cap: Cap = None,
    seed: WorldSeed = 0,
    any_model: AnyModel = False,
) -> None:
    """Compare a build's frozen snapshot with an empty store, in worlds that nothing was learnt in.

    Both play the same tasks, worlds and planner seeds. Nothing is learnt, whatever comes of it.

    Examples:

    * `mineevolve evaluate --build 0001 --group wooden`
    * `mineevolve evaluate --build 0002 --planners 5`
    * `mineevolve evaluate --build 0002 --backend ray --ray-address ray-head:6379 --workers 0`
    * `mineevolve evaluate --build 0002 --agent no_curation`
    """
    from pipeline.command import rollouts

    options = {"suite": suite, "tasks": task or [], "episodes": episodes, "planners": planners}
    options |= {"agent": agent, "workers": workers, "horizon_cap": horizon_cap, "seed": seed}
    options |= {"any_model": any_model}
    rollouts.evaluate(build, group or [], options, where(backend, ray_address))


@app.command()
def report(
    out: Annotated[
        Path | None,
        typer.Option(help="where to write the page (default: report/index.html in the data home)"),
    ] = None,
    suite: SuiteName = DEFAULT_SUITE,
) -> None:
    """Say whether frozen knowledge helped, and why or why not: one page to open in a browser.

    It is made from what `mineevolve evaluate` played, and needs nothing else: no network, no server.

    Examples:

    * `mineevolve report`
    * `mineevolve report --out loop.html`
    """
    from pipeline.command.rollouts import report as write

    write(out, suite)


@app.command()
def drop(
    source: Annotated[str, typer.Argument(help="a source's name: that of the folder it was imported from")],
    build: Build = None,
    group: Annotated[str | None, typer.Option(help="the group, where several have such a source")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
) -> None:
    """Take a source out of a build: its trajectories and its feedback no longer count as evidence.

    Its files stay on the disk until `mineevolve gc`, and importing the folder again brings it back. What was
    learned from it goes with the next `mineevolve run` of that build.

    Examples:

    * `mineevolve drop minestudio_openha`
    * `mineevolve drop minestudio_openha --build 0002 --yes`
    """
    from pipeline.command.sources import dropped

    dropped(source, build, group, sure=yes)


@app.command()
def sql(
    query: Annotated[str | None, typer.Argument(help="a query; without one, harlequin opens")] = None,
    output: Annotated[
        Path | None, typer.Option(help="write the result here: .csv, .parquet or .json by its ending")
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="rows of the table; all of them go elsewhere")] = 100,
    as_: Annotated[
        str, typer.Option("--format", help="what is printed: table, or csv, json, parquet for a pipe")
    ] = "table",
) -> None:
    """Ask analysis.duckdb, read-only. Its views are described in docs/sql.md, with the questions they answer.

    Examples:

    * `mineevolve sql "FROM failure_mix"`
    * `mineevolve sql "FROM claims_vs_evidence" --output claims.csv`
    * `mineevolve sql "FROM knowledge_growth" --format json | jq .`
    * `mineevolve sql`
    """
    from pipeline.command.ask import ask

    ask(query, output, limit, as_)


@app.command()
def notebook(
    export: Annotated[Path | None, typer.Option(help="write the plots as an HTML page and end")] = None,
    edit: Annotated[
        Path | None, typer.Option(help="open a copy of the notebook to change; made where there is none")
    ] = None,
    port: Annotated[int, typer.Option(help="port on this machine")] = 2718,
) -> None:
    """Open the standard plots of analysis.duckdb as a marimo notebook, in the browser.

    Each plot stands with its question and its query. The notebook itself stays as it is; `--edit` opens a
    copy of your own. The written page loads marimo's viewer from the network when it is opened.

    Examples:

    * `mineevolve notebook`
    * `mineevolve notebook --edit my_analysis.py`
    * `mineevolve notebook --export plots.html`
    """
    from pipeline.command.notebook import notebook as opened

    opened(export, edit, port)


@app.command()
def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="mend what can be mended without loss")] = False,
) -> None:
    """Look at the data home: are all files whole, is the analysis copy up to date, is the set-up complete?

    Republishes analysis.duckdb when the folder has moved. Exits with 1 when something is wrong, after a
    repair: when something still is. It also names builds that were trained with another snapshot than the
    build before them publishes now, and says which model would be asked and whether it could be.

    A repair makes the warehouse anew from the shards, damaged snapshots from the warehouse under the same id,
    feedback from the trajectories, shards of the log from the warehouse, and removes what killed writers
    left. What was damaged is kept in quarantine/. What nothing else holds is left where it is and named, with
    the command that makes it anew (docs/recovery.md).

    Examples:

    * `mineevolve doctor`
    * `mineevolve doctor --repair`
    """
    from pipeline.command.examine import examine

    examine(repair=repair)


@app.command("serve-model")
def serve_model(
    name: Annotated[
        str | None, typer.Argument(help="a row of the engine vllm; without one, MINEEVOLVE_MODEL's")
    ] = None,
    host: Annotated[str, typer.Option(help="address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port to listen on")] = 8000,
) -> None:
    """Serve a model by vLLM over HTTP, with the settings that its row in models.toml has.

    Several runs, or other machines, can then ask it through a row of the engine openai; the command says
    which. docs/models.md describes the rows.

    Examples:

    * `mineevolve serve-model qwen`
    * `MINEEVOLVE_MODEL=qwen mineevolve serve-model --port 8001`
    """
    from pipeline.command.models import serve_model as serve

    serve(name, host, port)


@app.command()
def gc(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would be removed")] = False,
) -> None:
    """Remove shards that no manifest lists any more: what a repeated import replaced.

    Nothing else is touched; snapshots and the log are never removed. Run it while nobody queries ticks.

    Example: `mineevolve gc --dry-run`
    """
    from pipeline.command.examine import collect_garbage

    collect_garbage(dry_run=dry_run)


@app.command()
def ui(
    port: Annotated[int, typer.Option(help="port on this machine")] = 3000,
) -> None:
    """Start the Dagster UI on the project's own instance.

    Example: `mineevolve ui --port 3001`
    """
    from pipeline.command.web import serve

    serve(port)
