"""`mineevolve study`."""

from typing import Annotated

import typer

from pipeline.command.options import (
    Agent,
    Build,
    Cap,
    Groups,
    SuiteName,
    Tasks,
    Workers,
    WorldSeed,
)
from warehouse.suites import DEFAULT_SUITE

app = typer.Typer(
    help="The same evaluation under several conditions. World and planner are stand-ins: the figures compare "
    "parts of this pipeline and say nothing of a language model in Minecraft.",
    no_args_is_help=True,
)

Worlds = Annotated[int, typer.Option("--episodes", min=1, help="worlds per task, in training and evaluation")]
Builds = Annotated[int, typer.Option(min=1, help="training builds before the evaluation")]
Planners = Annotated[int, typer.Option(min=1, help="planner seeds, each with its own misconceptions")]


@app.callback()
def _group() -> None:
    """Studies."""


@app.command()
def planners(
    build: Build = None,
    group: Groups = None,
    suite: SuiteName = DEFAULT_SUITE,
    task: Tasks = None,
    episodes: Annotated[int, typer.Option(min=1, help="worlds per task")] = 3,
    planners: Annotated[int, typer.Option(min=2, help="planner seeds; five are the least to report")] = 5,
    agent: Agent = "full",
    workers: Workers = 2,
    horizon_cap: Cap = None,
    seed: WorldSeed = 0,
) -> None:
    """Does a build's snapshot help whoever plans? Every planner seed in every evaluation world.

    This is `mineevolve evaluate` with several planner seeds: it is stored as that build's evaluation, in the
    same worlds. It shows the difference of each seed, and its interval over seeds and tasks. Stopped, it goes
    on where it was.

    Examples:

    * `mineevolve study planners --build 0003`
    * `mineevolve study planners --build 0001 --group wooden --group stone --planners 10 --episodes 2`
    """
    from pipeline.command import studies

    options = {"suite": suite, "tasks": task or [], "episodes": episodes, "planners": planners}
    options |= {"agent": agent, "workers": workers, "horizon_cap": horizon_cap, "seed": seed}
    studies.across_planners(build, group or [], options)


@app.command()
def misconceptions(
    group: Groups = None,
    shares: Annotated[str, typer.Option(help="shares of wrong facts, 0 to 1")] = "0,0.1,0.2,0.3,0.5",
    builds: Builds = 1,
    suite: SuiteName = DEFAULT_SUITE,
    task: Tasks = None,
    episodes: Worlds = 2,
    planners: Planners = 2,
    agent: Agent = "full",
    workers: Workers = 2,
    horizon_cap: Cap = None,
    seed: WorldSeed = 0,
) -> None:
    """How much does knowledge help a planner that is more, or less, mistaken?

    For each share of wrong facts the stand-in plays training builds and a frozen evaluation in a data home of
    its own below data/studies/misconceptions/. A larger share only adds to the misconceptions of a smaller
    one. The share of wrong diagnoses stays as it is in standin.toml. Stopped, it goes on where it was.

    Examples:

    * `mineevolve study misconceptions --group wooden`
    * `mineevolve study misconceptions --group stone --shares 0,0.2,0.5 --builds 2 --horizon-cap 6000`
    """
    from pipeline.command import studies

    options = {"suite": suite, "tasks": task or [], "episodes": episodes, "planners": planners}
    options |= {"agent": agent, "workers": workers, "horizon_cap": horizon_cap, "seed": seed}
    studies.across_misconceptions(group or [], shares, builds, options)


@app.command()
def curation(
    group: Groups = None,
    ways: Annotated[str, typer.Option(help="ways to take new knowledge in")] = "checks,backtest,tryouts,both",
    builds: Builds = 1,
    suite: SuiteName = DEFAULT_SUITE,
    task: Tasks = None,
    episodes: Worlds = 2,
    planners: Planners = 2,
    agent: Agent = "full",
    workers: Workers = 2,
    horizon_cap: Cap = None,
    seed: WorldSeed = 0,
) -> None:
    """Is it worth testing new knowledge? The same training with Curator's checks alone, with the back-test,
    with try-outs, and with both.

    Each way learns and is evaluated in a data home of its own below data/studies/curation/, on the same
    seeds, and is compared with the first. What was refused, and why, is in that home: `mineevolve sql`, with
    MINEEVOLVE_DATA set to it. Stopped, it goes on where it was.

    Examples:

    * `mineevolve study curation --group stone`
    * `mineevolve study curation --builds 3 --planners 5`
    """
    from pipeline.command import studies

    options = {"suite": suite, "tasks": task or [], "episodes": episodes, "planners": planners}
    options |= {"agent": agent, "workers": workers, "horizon_cap": horizon_cap, "seed": seed}
    studies.across_curations(group or [], ways, builds, options)


@app.command()
def agents(
    group: Groups = None,
    agents: Annotated[
        str, typer.Option(help="rows of rollouts/agents.toml")
    ] = "full,no_repair,no_memory,binary_feedback",
    builds: Builds = 1,
    suite: SuiteName = DEFAULT_SUITE,
    task: Tasks = None,
    episodes: Worlds = 2,
    planners: Planners = 2,
    workers: Workers = 2,
    horizon_cap: Cap = None,
    seed: WorldSeed = 0,
) -> None:
    """What does each part of the agent contribute? Several agents, trained and evaluated on the same seeds.

    Each agent learns and is evaluated in a data home of its own below data/studies/agents/. Stopped, it goes
    on where it was.

    Examples:

    * `mineevolve study agents --group wooden`
    * `mineevolve study agents --group stone --agents full,no_repair --planners 5 --builds 2`
    """
    from pipeline.command import studies

    options = {"suite": suite, "tasks": task or [], "episodes": episodes, "planners": planners}
    options |= {"agent": "full", "workers": workers, "horizon_cap": horizon_cap, "seed": seed}
    studies.across_agents(group or [], agents, builds, options)


@app.command()
def full(
    scale: Annotated[str, typer.Option(help="a row of pipeline/study_scales.toml: full or small")] = "full",
    workers: Workers = 2,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say how much would be played")] = False,
) -> None:
    """All studies in one job, and a page with a section for each: does knowledge accumulate, which curriculum
    is the best to learn from, what are remedies worth, and what does it all cost?

    Plays the curricula accumulation, diamond_only, pretrain_freeze and mixed (your own of these names take
    their place), each in a data home below data/studies/SCALE/curricula/, asks every checkpoint frozen, and
    writes data/studies/SCALE/report/index.html with k, n and intervals. Stopped, it goes on where it was.

    Examples:

    * `mineevolve study full`
    * `mineevolve study full --scale small`
    * `mineevolve study full --dry-run`
    """
    from pipeline.command.full_study import full_study

    full_study(scale, workers, dry_run=dry_run)
