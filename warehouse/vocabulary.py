"""The closed vocabularies of the data contracts. Order is part of the contract: it is the sort order of a
Polars Enum, and of the failure cascade.
"""

from typing import Final

KINDS: Final = ("mine", "craft", "smelt", "use", "combat", "move", "wait")
GUIS: Final = ("none", "inventory", "crafting_table", "furnace", "other")
LABEL_BASES: Final = ("exact", "task_text")
EPISODE_ENDS: Final = (
    "success",
    "horizon",
    "death",
    "plan_exhausted",
    "planning_failure",
    "call_budget",
    "recording_end",
    "infrastructure",
)
ATTEMPT_ENDS: Final = (
    "success",
    "timeout",
    "death",
    "horizon",
    "superseded",
    "agent_stopped",
    "infrastructure",
)
EVENT_KINDS: Final = ("chat", "error", "game", "counter", "action_result")
SIGHTING_KINDS: Final = ("block", "entity", "station")
OBSERVABLES: Final = (
    "position",
    "rotation",
    "vitals",
    "gui",
    "inventory",
    "equipped",
    "actions",
    "messages",
    "counters",
    "sightings",
)

# What a message or a result *says*, whatever its wording. Importers read their format's wording into one of
# these; Monitor decides what it means for the attempt.
SIGNALS: Final = (
    "connection_lost",  # the environment, or the way to it, failed
    "died",
    "invalid_action",  # unknown name, malformed call, language error in the agent's program
    "inventory_full",
    "missing_station",  # name: the station that was needed
    "missing_tool",  # name: the tool, or the lowest tool that would do
    "missing_fuel",  # name: the fuel asked for, if named
    "missing_item",  # items: what was short, and by how much
    "missing_requirement",  # the agent's own check says that something is short; items where named
    "result_failed",  # a craft or smelt that was carried out and gave nothing; name: the result
    "no_room",  # a placement found no free spot
    "action_timeout",  # one action timed out while the run went on
    "target_absent",  # name: what was searched for and not found
    "target_seen",  # name: what was found
    "drop_lost",  # something was broken loose and not picked up
    "out_of_reach",  # name: what could not be got to
    "path_blocked",  # the path finder gave up, or something blocked the way
    "started",  # name: what an action was started on
    "done",  # name: what an action yielded or did; count: how often, or how many
    "claim",  # name and count: what the agent says that it now has or did
    "claim_have",  # name and count: what the agent says that it already had
)

FAILURE_TYPES: Final = (
    "INFRASTRUCTURE",
    "DEATH",
    "INVALID_ACTION",
    "INVENTORY_FULL",
    "MISSING_STATION",
    "MISSING_TOOL",
    "NO_FUEL",
    "MISSING_INGREDIENT",
    "GUI_STALL",
    "RECIPE_FAIL",
    "SMELT_FAIL",
    "TARGET_NOT_FOUND",
    "TARGET_UNREACHABLE",
    "NAV_STUCK",
    "PREMATURE_STOP",
    "NO_ACTION",
    "TIMEOUT",
    "UNKNOWN",
)
NO_FAILURE: Final = "NONE"

FINDINGS: Final = (
    "runs_on_after_end",
    "noop_while_moving",
    "counter_backwards",
    "result_vanished",
    "time_backwards",
    "state_changed_between_files",
)
