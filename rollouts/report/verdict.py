"""What the figures say, in sentences. Every sentence is computed; none says more than the pairs show."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from rollouts.report.arms import Arms
from rollouts.report.failures import Failures
from rollouts.report.success import ALPHA, LEAST_PAIRS, Compared, Effect, Success
from rollouts.report.tables import LEAST_P, percent, points
from rollouts.report.usefulness import Usefulness

_HEADLINES: dict[Effect, str] = {
    "helped": "Frozen knowledge helped.",
    "hurt": "Frozen knowledge hurt.",
    "no difference shown": "Frozen knowledge made no difference that these episodes can show.",
}


@dataclass(frozen=True)
class Verdict:
    """The answer, the figures behind it, one line for each group, and what may explain it."""

    effect: Effect
    headline: str
    figures: str
    groups: tuple[str, ...]
    reasons: tuple[str, ...]


def verdict(arms: Arms, success: Success, failures: Failures, usefulness: Usefulness) -> Verdict:
    """Overall and by group."""
    overall = success.overall
    return Verdict(
        effect=overall.effect,
        headline=_HEADLINES[overall.effect],
        figures=_figures(arms, overall),
        groups=tuple(_of_group(group) for group in success.groups) if len(success.groups) > 1 else (),
        reasons=tuple(_reasons(arms, overall, failures, usefulness)),
    )


def _figures(arms: Arms, compared: Compared) -> str:
    weighted = ", weighted by tasks" if compared.is_average else ""
    pairs = compared.pairs
    return (
        f"With the snapshot of build {arms.last}, {percent(compared.frozen)} of the episodes succeed; with "
        f"the empty store, in the same worlds, {percent(compared.empty)}{weighted}. That is "
        f"{points(compared.gain.share)} percentage points{_interval(compared)}. Of {pairs.n} pairs, "
        f"{pairs.only_frozen} succeed only with knowledge and {pairs.only_empty} only without it "
        f"(exact McNemar p {_p(pairs.p)}, descriptive). {_why_not(compared)}"
    ).strip()


def _p(p: float) -> str:
    return f"< {LEAST_P}" if p < LEAST_P else f"= {p:.3f}"


def _interval(compared: Compared) -> str:
    _, low, high, drawn = compared.gain
    if low is None:
        return ", and one task with one planner seed gives no interval"
    return f" (95 % bootstrap over {drawn}: {points(low)} to {points(high)})"


def _why_not(compared: Compared) -> str:
    """Why nothing is claimed, where nothing is."""
    if compared.effect != "no difference shown":
        return ""
    if compared.differing < LEAST_PAIRS:
        return (
            f"Only {compared.differing} pairs differ: with fewer than {LEAST_PAIRS} no difference can be "
            "told from chance, however it falls. More worlds per task or more planner seeds would say more."
        )
    if compared.pairs.p >= ALPHA:
        more, fewer = sorted((compared.pairs.only_frozen, compared.pairs.only_empty), reverse=True)
        return f"{more} to {fewer} is not uneven enough to rule out chance (p is not below {ALPHA})."
    return "The bootstrap interval covers zero: a few tasks or planner seeds make the difference."


def _of_group(group: Compared) -> str:
    pairs = group.pairs
    said: dict[Effect, str] = {
        "helped": "helped",
        "hurt": "hurt",
        "no difference shown": "no difference that these episodes can show",
    }
    few = f", too few to tell: {LEAST_PAIRS} would be the least" if group.differing < LEAST_PAIRS else ""
    return (
        f"{group.name}: {said[group.effect]} ({percent(group.empty)} → {percent(group.frozen)}; "
        f"{pairs.only_frozen + pairs.only_empty} of {pairs.n} pairs differ{few})"
    )


def _reasons(arms: Arms, overall: Compared, failures: Failures, usefulness: Usefulness) -> Sequence[str]:
    episodes = arms.whole.height
    used, entries = usefulness.used, len(usefulness.entries)
    reasons = []
    if used.is_empty():
        reasons.append(
            f"No attempt was planned with any of the snapshot's {entries} entries, so the snapshot could not "
            "help: the planner was not shown an entry that it found of use."
        )
    else:
        reasons.append(
            f"{used.height} of the snapshot's {entries} entries were used at all; "
            f"{usefulness.episodes_with} of {episodes} episodes had an attempt that was planned with one."
        )
    gone, more = _changes(failures.mix)
    reasons.append(
        f"Failed attempts went from {failures.empty.failed} to {failures.frozen.failed} in these episodes"
        + (f"; fewer of {gone}" if gone else "")
        + (f"; more of {more}" if more else "")
        + "."
    )
    both, neither = overall.pairs.both, overall.pairs.neither
    reasons.append(
        f"{both} of {overall.pairs.n} pairs succeed either way and {neither} fail either way: knowledge can "
        "only show in what is between."
    )
    return reasons


def _changes(mix: pl.DataFrame, most: int = 3) -> tuple[str, str]:
    """The failure types that fell and that rose the most, with their counts."""
    change = mix.with_columns(change=pl.col("frozen") - pl.col("empty"))
    fell, rose = (
        change.filter(keep).sort(pl.col("change").abs(), "failure_type", descending=[True, False]).head(most)
        for keep in (pl.col("change") < 0, pl.col("change") > 0)
    )
    said = (
        ", ".join(f"{name} ({empty} → {frozen})" for name, empty, frozen in rows.iter_rows())
        for rows in (each.select("failure_type", "empty", "frozen") for each in (fell, rose))
    )
    return next(said), next(said)
