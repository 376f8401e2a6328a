"""Partitions: builds come and go, task groups are fixed. Episodes are never partitions."""

import warnings

import dagster as dg

IMPORTED = "imported"
GROUPS = ("wooden", "stone", "iron", "gold", "redstone", "diamond", "armor", IMPORTED)

builds = dg.DynamicPartitionsDefinition(name="build")
groups = dg.StaticPartitionsDefinition(list(GROUPS))
builds_and_groups = dg.MultiPartitionsDefinition({"build": builds, "group": groups})

# A build's knowledge is made from all of its groups.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", dg.BetaWarning)
    all_groups_of_the_build = dg.MultiToSingleDimensionPartitionMapping(partition_dimension_name="build")


def build_and_group(context: dg.AssetExecutionContext) -> tuple[str, str]:
    """The (build, group) of the partition that a run is for."""
    key = context.partition_key
    if not isinstance(key, dg.MultiPartitionKey):
        raise TypeError(f"{key!r} is not a build and a group")
    dimensions = key.keys_by_dimension
    return dimensions["build"], dimensions["group"]
