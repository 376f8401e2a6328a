"""What the failure cascade may look at."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from rollouts.monitor.runs import KEY
from rollouts.monitor.settings import MonitorSettings
from rollouts.monitor.targets import accepted_items, seen_names
from rollouts.monitor.watch import Watched
from warehouse.domains import Domain


@dataclass(frozen=True)
class Case:
    """The attempts to explain, with the evidence of these attempts alone.

    `attempts` is `progress`'s frame; `events`, `sightings` and `inventory_changes` are the contract's.
    """

    attempts: pl.DataFrame
    events: pl.DataFrame
    sightings: pl.DataFrame
    inventory_changes: pl.DataFrame
    watched: Watched
    domain: Domain
    settings: MonitorSettings

    @cached_property
    def accepted(self) -> pl.DataFrame:
        """`accepted_items` of the attempts."""
        return accepted_items(self.attempts, self.domain)

    @cached_property
    def looks(self) -> pl.DataFrame:
        """`seen_names` of the attempts."""
        return seen_names(self.attempts, self.domain)

    @cached_property
    def gains(self) -> pl.DataFrame:
        """The inventory changes by which something of the attempt's target came in."""
        came = self.inventory_changes.filter(pl.col("delta") > 0)
        return came.join(self.accepted, on=[*KEY, "item"], maintain_order="left")

    @cached_property
    def touched(self) -> pl.DataFrame:
        """(episode_id, attempt) of attempts that got something of their target, or acted on it with
        success."""
        done = (
            self.events.filter(
                (pl.col("signal").cast(pl.String) == "done")
                | pl.col("name").str.contains("^(?:mine_block|kill_entity):")
            )
            .with_columns(name=pl.col("name").str.split(":").list.last())
            .join(self.looks, on=[*KEY, "name"])
        )
        return pl.concat([self.gains.select(KEY), done.select(KEY)]).unique()


Rule = Callable[[Case], pl.DataFrame]
"""Causes that hold: (episode_id, attempt, type) and the evidence, any number of rows an attempt."""
