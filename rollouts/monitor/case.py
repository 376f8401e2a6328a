"""What the failure cascade may look at."""

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from rollouts.monitor.settings import MonitorSettings
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


Rule = Callable[[Case], pl.DataFrame]
"""Causes that hold: (episode_id, attempt, type) and the evidence, any number of rows an attempt."""
