"""Which entries the last snapshot's episodes were planned with, and what became of those episodes.

What is counted is an association: an entry is named where its situation arose, and the same situation may be
what decided the episode.
"""

from dataclasses import dataclass
from typing import Final

import polars as pl

from rollouts.planner import TEMPORARY
from rollouts.report.arms import Arms
from warehouse.entries import Entry
from warehouse.snapshots import entry_rows, load_snapshot

SHOWN: Final = 8
"""rows of each list"""
_DESCRIBED: Final = (
    *("entry_id", "type", "kind", "target", "failure_type", "status"),
    *("confidence", "uses", "wins", "support_episodes"),
)


@dataclass(frozen=True)
class Usefulness:
    """`entries` of the frozen snapshot by id. `used`: one row per entry that an attempt named, with its
    `attempts` (`succeeded`, `failed`; the rest is undecided), `episodes`, of them `won` (the paired episode
    without knowledge failed) and `lost` (it succeeded), and the entry's own figures from training; the most
    useful first. `episodes_with`: episodes in which any entry was used."""

    entries: dict[str, Entry]
    used: pl.DataFrame
    episodes_with: int

    @property
    def unused(self) -> int:
        """Entries that no attempt named."""
        return len(self.entries.keys() - set(self.used["entry_id"]))

    @property
    def useful(self) -> pl.DataFrame:
        """In more episodes won than lost."""
        return self.used.filter(pl.col("won") > pl.col("lost")).head(SHOWN)

    @property
    def harmful(self) -> pl.DataFrame:
        """In more episodes lost than won, the worst first."""
        return self.used.filter(pl.col("won") < pl.col("lost")).reverse().head(SHOWN)

    @property
    def trained(self) -> pl.DataFrame:
        """Entries that were used in training, with their figures from there, the most trusted first."""
        used = entry_rows(entry for entry in self.entries.values() if entry.uses).select(_DESCRIBED)
        return used.sort("confidence", "entry_id", descending=[True, False])

    @property
    def trusted(self) -> pl.DataFrame:
        """The upper end of `trained`."""
        return self.trained.head(min(SHOWN, -(-self.trained.height // 2)))

    @property
    def distrusted(self) -> pl.DataFrame:
        """Its lower end, the least trusted first."""
        return self.trained.reverse().head(min(SHOWN, self.trained.height // 2))

    def shown(self) -> tuple[str, ...]:
        """The entries of all lists, once each, in the order in which a reader meets them."""
        lists = (self.useful, self.harmful, self.trusted, self.distrusted, self.used)
        return tuple(dict.fromkeys(entry_id for rows in lists for entry_id in rows["entry_id"]))


def usefulness(arms: Arms, judged: pl.DataFrame) -> Usefulness:
    """Of the counted pairs; `judged` as `judged_attempts` gives it. What `load_snapshot` raises, where the
    snapshot that was frozen is gone or damaged."""
    entries = frozen_entries(arms)
    outcomes = arms.whole.select(
        "episode_id",
        won=pl.col("success") & ~pl.col("success_empty"),
        lost=~pl.col("success") & pl.col("success_empty"),
    )
    named = (
        judged.filter(pl.col("arm") == arms.last)
        .join(outcomes, on="episode_id")
        .select("episode_id", "attempt", "y", "won", "lost", entry_id=pl.col("knowledge_used").list.unique())
        .explode("entry_id")
        .drop_nulls("entry_id")
        .filter(~pl.col("entry_id").str.starts_with(TEMPORARY))
    )
    counted = named.group_by("entry_id").agg(
        attempts=pl.len().cast(pl.Int64),
        succeeded=pl.col("y").eq_missing(True).sum().cast(pl.Int64),
        failed=pl.col("y").eq_missing(False).sum().cast(pl.Int64),
        episodes=pl.col("episode_id").n_unique().cast(pl.Int64),
        won=pl.col("episode_id").filter(pl.col("won")).n_unique().cast(pl.Int64),
        lost=pl.col("episode_id").filter(pl.col("lost")).n_unique().cast(pl.Int64),
    )
    described = entry_rows(entries.values()).select(_DESCRIBED)
    used = counted.join(described, on="entry_id", how="left").sort(
        pl.col("won") - pl.col("lost"),
        pl.col("succeeded") / (pl.col("succeeded") + pl.col("failed")).clip(1),
        "attempts",
        "entry_id",
        descending=[True, True, True, False],
    )
    return Usefulness(entries, used, named["episode_id"].n_unique())


def frozen_entries(arms: Arms) -> dict[str, Entry]:
    """The entries of the last build's frozen snapshot, by id; of several where groups were evaluated with
    different ones."""
    ids = arms.of(arms.last)["snapshot_id"].drop_nulls().unique().sort()
    snapshots = (load_snapshot(arms.home / "snapshots" / snapshot_id) for snapshot_id in ids)
    held = {entry.entry_id: entry for snapshot in snapshots for entry in snapshot.entries}
    return {entry_id: held[entry_id] for entry_id in sorted(held)}
