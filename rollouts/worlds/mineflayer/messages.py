"""What the errors of mineflayer and its plugins say, in the signals of the trace contract."""

import re
from typing import Final

from rollouts.protocols import WorldEvent
from warehouse.domains import Domain

_LONGEST: Final = 200
"""characters of an error that are kept; some quote a whole recipe"""
_SAID: Final = (
    (re.compile(r"requires craftingTable"), "missing_station"),
    (re.compile(r"^no (?P<name>\w+) is in reach"), "missing_station"),
    (re.compile(r"harvestable tool"), "missing_tool"),
    (re.compile(r"^missing item (?P<name>\w+)"), "missing_item"),
    (re.compile(r"missing ingredient|Can't find \w+ in slots"), "missing_item"),
    (re.compile(r"nothing burns"), "missing_fuel"),
    (re.compile(r"inventory is full|destination full"), "inventory_full"),
    (re.compile(r"no room to place"), "no_room"),
    (re.compile(r"No path to the goal"), "out_of_reach"),
    (re.compile(r"Took to long to decide path"), "path_blocked"),
    (re.compile(r"timed out|did not fire within|didn't respond"), "action_timeout"),
    (re.compile(r"there is no recipe for|nothing is done here"), "invalid_action"),
)


def read_error(tick: int, name: str | None, text: str, domain: Domain) -> WorldEvent:
    """An error as an event of the trace. `name` is what it was about; what is lacking takes its place where
    the error is about that: the station, or the lowest tool that would do."""
    for pattern, signal in _SAID:
        if found := pattern.search(text):
            named = found.groupdict().get("name") or _lacking(signal, name, domain)
            return WorldEvent(tick, "error", named, None, text[:_LONGEST], signal)
    return WorldEvent(tick, "error", name, None, text[:_LONGEST], None)


def _lacking(signal: str, name: str | None, domain: Domain) -> str | None:
    if signal == "missing_station":
        return domain.crafting_station
    if signal == "missing_tool" and name is not None:
        tools = domain.fit_tools(name)
        return min(
            tools, key=lambda tool: (domain.tool_tiers.index(domain.tools[tool][1]), tool), default=None
        )
    return name
