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
    rows: list[dict[str, object]] = []
    tasks: dict[str, int] = {}
    shares: dict[str, dict[str, float | None]] = {}
    kept = []
    steps = [EMPTY, *arms.builds]
    for group in arms.groups:
        own = arms.episodes.filter(pl.col("group") == group)
        common = _common(own, arms)
        held = own.join(common, on=PAIRED_BY, how="semi")
        tasks[group] = common["task_id"].n_unique()
        kept.append(common.with_columns(group=pl.lit(group)))
        for step, arm in enumerate(steps):
            episodes = held.filter(pl.col("arm") == arm)
            if episodes.is_empty():
                continue
            rate = Rate(int(episodes["success"].sum()), episodes.height)
            low, high = rate.interval or (None, None)
            shares.setdefault(arm, {})[group] = rate.share
            figures = {"k": rate.k, "n": rate.n, "share": rate.share, "low": low, "high": high}
            rows.append({"name": group, "arm": arm, "step": step, **figures})
    if len(arms.groups) > 1:
        for step, arm in enumerate(steps):
            own_shares = shares.get(arm, {})
            if set(own_shares) == {group for group, number in tasks.items() if number}:
                overall = weighted((share, tasks[group]) for group, share in own_shares.items())
                parts = [row for row in rows if row["arm"] == arm]
                k, n = (sum(int(str(row[figure])) for row in parts) for figure in ("k", "n"))
                figures = {"k": k, "n": n, "share": overall, "low": None, "high": None}
                rows.append({"name": OVERALL, "arm": arm, "step": step, **figures})
    worlds = pl.concat(kept)
    return Accumulation(
        points=pl.DataFrame(rows, schema=POINTS),
        worlds=worlds.height,
        tasks=worlds["task_id"].n_unique(),
        left_out=tuple(build for build in arms.builds if build not in shares),
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
