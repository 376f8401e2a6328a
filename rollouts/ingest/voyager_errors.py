"""Voyager's exceptions as signals: the message among the program's own code lines, and what it says.

An exception whose text names an unmet precondition says that the precondition was unmet; one that does not is
an action that could not be carried out as given.
"""

import re
from typing import Final

from rollouts.ingest.readings import NOTHING, Readers, Reading, first, named, plain, table
from rollouts.ingest.voyager_messages import (
    BLOCKED,
    DEAD,
    FULL,
    LOST,
    NO_FUEL,
    NO_ROOM,
    REACH,
    absence,
    absent,
    one_missing,
    product,
    read_statements,
)
from warehouse.domains import Domain

# What a JavaScript engine says of a program: never about the world, whatever words the program's names hold.
_LANGUAGE: Final = re.compile(
    r"is not (?:defined|a function|iterable|a constructor)|Cannot (?:read|set) propert|Unexpected (?:token|end|identifier)"
    r"|Assignment to constant|must be an? \w+|before initialization|has already been declared|Invalid or unexpected"
)
_UNKNOWN_NAME: Final = re.compile(
    r"No (?:block|item|mob|entity|recipe) named (?P<name>\w+)|No recipe for (?P<other>\w+)"
)
_TRIED: Final = re.compile(r"craftItem\(\s*bot\s*,\s*[\"'](?P<name>\w+)[\"']")
_CODE_LINE: Final = re.compile(
    r"^(?:In your program code:|Your code:|at |/|\S+\.js:\d+|throw )|;\s*$|in your code$"
)


def _requirement(match: re.Match[str], domain: Domain) -> Reading:
    """A requirement, if it names a station or a tool ("requires craftingTable"); else nothing."""
    known = absence(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", match["name"]).lower(), domain)
    return known if known.signal != "target_absent" else NOTHING


def _bad_input(match: re.Match[str], domain: Domain) -> Reading:
    """A furnace refused its input: a failed smelt if that can be smelted at all."""
    name = match["name"]
    return Reading("result_failed", f"smelt:{product(name, domain)}") if name in domain.smelting else NOTHING


EXCEPTIONS: Final[Readers] = table(
    [
        (LOST, plain("connection_lost")),
        (DEAD, plain("died")),
        (NO_ROOM, plain("no_room")),
        (r"has been placed ?: the block is still|No block to place", plain("no_room")),
        (FULL, plain("inventory_full")),
        (NO_FUEL, plain("missing_fuel")),
        (r"(?P<name>\w+) is not a valid input", _bad_input),
        (r"No (?P<name>[\w ]+?) (?:nearby|in range|around|within range|found|at \()", absent),
        (r"need at least an? (?P<name>\w+) to mine", named("missing_tool")),
        (r"(?:requires?|needs?) (?:an? )?(?P<name>[\w ]+?)(?= to\b|[.,;!]|$)", _requirement),
        (r"Can't find (?P<name>\w+) in slots", one_missing),
        (r"No (?P<name>\w+) in inventory", one_missing),
        (r"Server rejected transaction", plain("result_failed")),
        (r"smeltItem failed too many times", lambda match, domain: Reading("result_failed", "smelt:")),
        (r"craftItem failed too many times|missing ingredients?", plain("missing_requirement")),
        (r"(?:mineBlock|killMob) failed too many times|please explore", plain("target_absent")),
        (r"placeItem failed too many times", plain("no_room")),
        (BLOCKED, plain("path_blocked")),
        (REACH, plain("out_of_reach")),
        (r"did not fire within timeout|timed? ?out|Digging aborted", plain("action_timeout")),
    ],
    re.IGNORECASE,
)


def exception_message(text: str) -> str:
    """The message of a recorded exception, without the code lines that Voyager prints around it.

    >>> exception_message('In your program code: throw new Error("No furnace nearby");\\nNo furnace nearby\\n'
    ...     'at line 6:await smeltItem(bot, "raw_iron", "oak_planks"); in your code')
    'No furnace nearby'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    kept = [line for line in lines if not _CODE_LINE.search(line)]
    return " ".join(kept) if kept else text.strip()


def read_error(text: str, domain: Domain) -> Reading:
    """A recorded exception as a signal."""
    message = exception_message(text)
    unknown = _UNKNOWN_NAME.search(message)
    if unknown:
        return Reading("invalid_action", unknown["name"] or unknown["other"])
    if _LANGUAGE.search(message):
        return Reading("invalid_action")
    reading = first(EXCEPTIONS, message, domain) or read_statements(message, domain)
    if reading is None or reading.signal in ("claim", "claim_have", "target_seen"):
        return Reading("invalid_action")
    tried = _TRIED.search(text)
    if reading.signal == "missing_station" and tried and not domain.recipes.get(tried["name"]):
        # The primitive says so too of a thing that no recipe makes, at a station or not.
        return Reading("invalid_action", tried["name"])
    return reading
