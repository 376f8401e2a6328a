"""Partitions: builds come and go, task groups are fixed. Episodes are never partitions."""

import warnings

import dagster as dg

from assets.domain_choice import DomainChoice
from warehouse.suites import DEFAULT_SUITE, suite_groups

IMPORTED = "imported"
GROUPS = (*suite_groups(DEFAULT_SUITE, DomainChoice().domain), IMPORTED)
"""the task groups of the chosen domain's suite, in its order, and what recordings are filed under"""

PLAYED = tuple(group for group in GROUPS if group != IMPORTED)

builds = dg.DynamicPartitionsDefinition(name="build")
groups = dg.StaticPartitionsDefinition(list(GROUPS))
builds_and_groups = dg.MultiPartitionsDefinition({"build": builds, "group": groups})
played_groups = dg.StaticPartitionsDefinition(list(PLAYED))
builds_and_played_groups = dg.MultiPartitionsDefinition({"build": builds, "group": played_groups})

# Said of every asset that has a backfill policy, to everybody who calls the command.
warnings.filterwarnings("ignore", message="Parameter `backfill_policy`", category=dg.BetaWarning)
# Recordings are imported one partition at a time, and judged with however many there are.
warnings.filterwarnings("ignore", message="Asset job .* varying BackfillPolicies", category=UserWarning)

# A build's knowledge is made from all of its groups.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", dg.BetaWarning)
    all_groups_of_the_build = dg.MultiToSingleDimensionPartitionMapping(partition_dimension_name="build")


in_one_run = dg.BackfillPolicy.single_run()
"""A range of partitions is worked on together, so that no process waits for the last episode of a group."""


def groups_by_build(context: dg.AssetExecutionContext) -> dict[str, list[str]]:
    """The partitions of a run, groups in their fixed order, builds sorted."""
    keys = [key.keys_by_dimension for key in context.partition_keys if isinstance(key, dg.MultiPartitionKey)]
    asked = {(key["build"], key["group"]) for key in keys}
    return {
        build: [group for group in GROUPS if (build, group) in asked]
        for build in sorted({build for build, _ in asked})
    }


def key_of(build: str, group: str) -> dg.MultiPartitionKey:
    """The partition of a build and a group."""
    return dg.MultiPartitionKey({"build": build, "group": group})


def build_and_group(context: dg.AssetExecutionContext) -> tuple[str, str]:
    """The (build, group) of the partition that a run is for."""
    key = context.partition_key
    if not isinstance(key, dg.MultiPartitionKey):
        raise TypeError(f"{key!r} is not a build and a group")
    dimensions = key.keys_by_dimension
    return dimensions["build"], dimensions["group"]
