"""The builds that commands work on, and `mineevolve drop`."""

import typer

from pipeline.command.console import MISUSED, fail, out
from pipeline.settings import Settings
from warehouse.trace_store import FOLDER_NAME, ShardStore, feedback_store, trace_store


def chosen_build(named: str | None, settings: Settings) -> str:
    """The build that `--build` names, or else the settings; a name that is no folder's ends the command."""
    build = settings.build if named is None else named
    if not FOLDER_NAME.fullmatch(build):
        whose = "MINEEVOLVE_BUILD" if named is None else "--build"
        raise fail(
            f"{whose} is {build!r}, which cannot name a build: a letter or digit, then letters, digits, '.', "
            "'_' and '-'",
            MISUSED,
        )
    return build


def dropped(source: str, named: str | None, group: str | None, *, sure: bool) -> None:
    """Takes a source out of a build's traces and feedback, after asking; says what to run then."""
    settings = Settings()
    build = chosen_build(named, settings)
    traces, feedback = trace_store(settings.home), feedback_store(settings.home)
    group = _group_of(traces, build, source, group)
    episodes, attempts = (_rows(traces, build, group, source, table) for table in ("episodes", "attempts"))
    figures = f"episodes: {episodes}, attempts: {attempts}"
    if not sure:
        typer.confirm(f"Take {source} ({figures}) out of build {build}?", abort=True)
    # The feedback goes first: traces without feedback are judged again at the next import, feedback without
    # its traces would stop every later fold.
    if (group, source) in feedback.sources(build):
        feedback.drop_source(build, group, source)
    traces.drop_source(build, group, source)
    out.print(
        f"Taken out of build {build}: {source} ({figures}). Its files stay until `mineevolve gc`.",
        markup=False,
        soft_wrap=True,
    )
    if traces.sources(build):
        out.print(f"What was learned from it goes with `mineevolve run --build {build}`.", soft_wrap=True)
    else:
        # `run` would import the sample into a build without sources.
        out.print(
            f"Build {build} is empty now. What was learned from it goes with `mineevolve warehouse rebuild`.",
            soft_wrap=True,
        )


def _group_of(traces: ShardStore, build: str, source: str, group: str | None) -> str:
    held = traces.sources(build)
    groups = [of for of, name in held if name == source and group in (None, of)]
    if len(groups) == 1:
        return groups[0]
    if groups:
        raise fail(f"groups {', '.join(groups)} each have a source {source!r}: choose with --group", MISUSED)
    what = f"build {build!r} has no source {source!r}" + (f" in group {group!r}" if group else "")
    there = ", ".join(f"{name} (group {of})" for of, name in held)
    builds = ", ".join(one for one in traces.builds() if traces.sources(one))
    raise fail(f"{what}; it has {there or 'none'}; builds with sources: {builds or 'none'}", MISUSED)


def _rows(store: ShardStore, build: str, group: str, source: str, table: str) -> int:
    """What the manifest says, so that a source can be dropped whose files are damaged."""
    own = (part for part in store.parts(table, [build]) if (part.group, part.source) == (group, source))
    return sum(shard.rows for part in own for shard in part.shards)
