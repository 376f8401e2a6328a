"""Success by snapshot: the empty store, then the frozen snapshot of each build that was evaluated.

A point is only worth something beside another of the same worlds. So in each group an episode counts if the
empty store and every build that was evaluated in the group played it, in the same configuration, and the
infrastructure ended none of them.
"""

from dataclasses import dataclass
from functools import reduce
from typing import Final

import polars as pl

from rollouts.evaluation import EMPTY
from rollouts.rates import PAIRED_BY, Rate, weighted
from rollouts.report.arms import BROKEN, Arms
from rollouts.report.success import OVERALL

POINTS: Final = pl.Schema(
    {
        **dict.fromkeys(("name", "arm"), pl.String()),
        **dict.fromkeys(("step", "k", "n"), pl.Int64()),
        **dict.fromkeys(("share", "low", "high"), pl.Float64()),
    }
)


@dataclass(frozen=True)
class Accumulation:
    """`points` (`POINTS`): step 0 is the empty store; overall shares are weighted by tasks and have no
    interval. `worlds` (task, world and planner seed) of `tasks` tasks are in every point of their group.
    `left_out`: builds that share no episode with the others in any group."""

    points: pl.DataFrame
    worlds: int
    tasks: int
    left_out: tuple[str, ...]


def accumulation(arms: Arms) -> Accumulation:
    """The curve, overall and by group. A build has an overall point if it has one in every group."""
    arm_steps = list(enumerate((EMPTY, *arms.builds)))
    common = {group: _common(arms.episodes.filter(pl.col("group") == group), arms) for group in arms.groups}
    known = [group for group in arms.groups if common[group].height]
    rows: list[dict[str, object]] = []
    rates: dict[str, dict[str, Rate]] = {arm: {} for _, arm in arm_steps}
    for group in known:
        own = arms.episodes.filter(pl.col("group") == group).join(common[group], on=PAIRED_BY, how="semi")
        for step, arm in arm_steps:
            episodes = own.filter(pl.col("arm") == arm)
            if episodes.height:
                rate = Rate(int(episodes["success"].sum()), episodes.height)
                low, high = rate.interval or (None, None)
                rates[arm][group] = rate
                figures = {"share": rate.share, "low": low, "high": high}
                rows.append({"name": group, "arm": arm, "step": step, "k": rate.k, "n": rate.n} | figures)
    for step, arm in arm_steps:
        of_groups = rates[arm]
        if len(of_groups) == len(known) > 1:
            share = weighted((rate.share, arms.tasks[group]) for group, rate in of_groups.items())
            k, n = (sum(figure) for figure in zip(*of_groups.values(), strict=True))
            rows.append({"name": OVERALL, "arm": arm, "step": step, "k": k, "n": n, "share": share})
    return Accumulation(
        points=pl.DataFrame(rows, schema=POINTS),
        worlds=sum(each.height for each in common.values()),
        tasks=sum(each["task_id"].n_unique() for each in common.values()),
        left_out=tuple(build for build in arms.builds if not rates[build]),
    )


def _common(episodes: pl.DataFrame, arms: Arms) -> pl.DataFrame:
    """What the empty store and the builds of a group all played (`PAIRED_BY`). Builds that share nothing with
    the last one's pairs do not narrow it down."""
    whole = episodes.filter(~BROKEN)
    keys = {arm: whole.filter(pl.col("arm") == arm).select(PAIRED_BY) for arm in (EMPTY, *arms.builds)}
    ours = keys[arms.last].join(keys[EMPTY], on=PAIRED_BY, how="semi")
    broken = episodes.filter(BROKEN).select(PAIRED_BY)
    others = [
        keys[build]
        for build in arms.builds[:-1]
        if not keys[build].join(ours, on=PAIRED_BY, how="semi").is_empty()
    ]
    return reduce(
        lambda held, other: held.join(other, on=PAIRED_BY, how="semi"),
        others,
        ours.join(broken, on=PAIRED_BY, how="anti"),
    ).sort(PAIRED_BY)
