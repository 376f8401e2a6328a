"""Voyager's messages, read as signals.

Three sources speak in a Voyager recording: its control primitives, in fixed sentences (mine, craft, smelt,
place, kill, explore); exceptions, in which the message stands between the program's own code lines; and the
agent's program, in words of its own (rollouts/ingest/statements.py). A signal says what the words say;
whether it decides the attempt is Monitor's business.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from rollouts.ingest.statements import Statement, statements
from warehouse.domains import Domain


@dataclass(frozen=True)
class Reading:
    """An event's signal with the things it names. `items` are shortages: (name, count)."""

    signal: str | None
    name: str | None = None
    count: int | None = None
    items: tuple[tuple[str, int], ...] = ()


NOTHING: Final = Reading(None)
Maker = Callable[[re.Match[str], Domain], Reading]
Readers = list[tuple[re.Pattern[str], Maker]]


def _plain(signal: str | None) -> Maker:
    return lambda match, domain: Reading(signal)


def _named(signal: str) -> Maker:
    return lambda match, domain: Reading(signal, match["name"])


def _action(signal: str, verb: str) -> Maker:
    def make(match: re.Match[str], domain: Domain) -> Reading:
        count = match.groupdict().get("count")
        return Reading(signal, f"{verb}:{match['name']}", int(count) if count else 1)

    return make


def _shortage(match: re.Match[str], domain: Domain) -> Reading:
    items = tuple((name, int(count)) for count, name in re.findall(r"(\d+) more (\w+)", match["items"]))
    return Reading("missing_item", f"craft:{match['name']}", None, tuple(sorted(items)))


def _smelted(match: re.Match[str], domain: Domain) -> Reading:
    name = domain.smelting.get(match["name"], match["name"])
    return Reading("done", f"smelt:{name}", int(match["count"]))


def _smelt_failed(match: re.Match[str], domain: Domain) -> Reading:
    return Reading("result_failed", f"smelt:{domain.smelting.get(match['name'], match['name'])}")


def _one_missing(match: re.Match[str], domain: Domain) -> Reading:
    return Reading("missing_item", match["name"], None, ((match["name"], 1),))


def _requirement(match: re.Match[str], domain: Domain) -> Reading:
    """A requirement, if it names a station or a tool ("requires craftingTable"); else nothing."""
    known = absence(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", match["name"]).lower(), domain)
    return known if known.signal != "target_absent" else NOTHING


def _absent(match: re.Match[str], domain: Domain) -> Reading:
    return absence(match["name"].strip(), domain)


PRIMITIVES: Final[Readers] = [
    (re.compile(source), maker)
    for source, maker in [
        (r"^I can make (?P<name>\w+)$", _action("started", "craft")),
        (r"^I cannot make (?P<name>\w+) because I need:(?P<items>.*)$", _shortage),
        (r"^I did the recipe for (?P<name>\w+) (?P<count>\d+) times$", _action("done", "craft")),
        (
            r"^I cannot do the recipe for (?P<name>\w+) (?P<count>\d+) times$",
            _action("result_failed", "craft"),
        ),
        (r"^I need at least an? (?P<name>\w+) to mine (?P<block>\w+)", _named("missing_tool")),
        (r"^Failed to pick ?up item", _plain("drop_lost")),
        (r"^No (?P<name>\w+) nearby, please explore first$", _absent),
        (r"^No (?P<name>\w+) to smelt in inventory", _one_missing),
        (r"^No (?P<name>\w+) as fuel in inventory", _named("missing_fuel")),
        (r"^No (?P<name>\w+) in inventory", _one_missing),
        (r"^Placing (?P<name>\w+) on ", _action("started", "place")),
        (r"^Placed (?P<name>\w+)$", _action("done", "place")),
        (r"^Error placing (?P<name>\w+): .*did not fire within timeout", _named("action_timeout")),
        (r"^Error placing (?P<name>\w+): ", _named("no_room")),
        (r"^No block to place (?P<name>\w+) on", _named("no_room")),
        (r"^Killed (?P<name>\w+)!$", _action("done", "kill")),
        (r"^Failed to kill (?P<name>\w+)", _named("out_of_reach")),
        (r"^Smelted (?P<count>\d+) (?P<name>\w+)\.?$", _smelted),
        (r"^Failed to smelt (?P<name>\w+)", _smelt_failed),
        (r"^Explore success\.?$", _plain("target_seen")),
        (r"^(?:Max exploration time reached|Failed to explore)", _plain("target_absent")),
        # Said before every craft away from a station, whether the recipe needs one or not: decides nothing.
        (r"^(?:Craft without a |An? [\w ]+ needs to be nearby to start crafting)", _plain(None)),
        (r"^Collect finish!$", _plain(None)),
    ]
]

_CONNECTION: Final = "|".join(
    (
        r"ECONN\w+|EPIPE|socket (?:hang up|closed)|kicked|disconnect(?:ed)?\b|keep-?alive|end of stream",
        r"connection (?:was )?(?:lost|closed|reset|refused|throttled|timed out)|client timed out",
        r"server (?:is )?(?:closed|not running|down)|bot (?:has )?(?:not spawned|left)|read timeout",
        r"request timed out|environment (?:crashed|is down|did not respond)",
    )
)
_DEATH: Final = r"\b(?:bot|player|agent|i) (?:has )?(?:died|was slain|was killed|drowned|starved|burned)"
_FULL: Final = r"inventory (?:is )?full|destination full|no (?:free |empty )?(?:slot|space|room)"
_SHORT: Final = (
    r"not enough|don't have enough|missing ingredients?|insufficient|craftItem failed too many times"
)
_BLOCKED: Final = "|".join(
    (
        r"took to+ long to decide path|no path\b|path(?:finder|finding)? (?:failed|timed out|was stopped)",
        r"goal was changed|cannot (?:find|reach) (?:a )?(?:path|goal)|stuck",
    )
)
_REACH: Final = r"failed to kill|out of reach|too far|can(?:no|')t reach|not in (?:reach|range|view)"
_SEARCHED: Final = r"(?:mineBlock|killMob) failed too many times|please explore"

# Ordered: a precondition named in an exception outranks its being an exception.
EXCEPTIONS: Final[Readers] = [
    (re.compile(source, re.IGNORECASE), maker)
    for source, maker in [
        (_CONNECTION, _plain("connection_lost")),
        (_DEATH, _plain("died")),
        (_FULL, _plain("inventory_full")),
        (r"is not a valid fuel|no fuel|(?:needs?|requires?|without|not enough) fuel", _plain("missing_fuel")),
        (r"No (?P<name>[\w ]+?) (?:nearby|in range|around|within range|found)\b", _absent),
        (r"need at least an? (?P<name>\w+) to mine", _named("missing_tool")),
        (r"(?:requires?|needs?) (?:an? )?(?P<name>\w+)", _requirement),
        (r"No (?P<name>\w+) in inventory", _one_missing),
        (_SHORT, _plain("missing_requirement")),
        (_BLOCKED, _plain("path_blocked")),
        (_REACH, _plain("out_of_reach")),
        (_SEARCHED, _plain("target_absent")),
        (r"placeItem failed too many times", _plain("no_room")),
        (r"smeltItem failed too many times", _plain("result_failed")),
        (r"did not fire within timeout|timed? ?out", _plain("action_timeout")),
    ]
]

# What a program may report in its own words of what it met, when the words are no statement about a thing.
REPORTS: Final[Readers] = [
    (re.compile(source, re.IGNORECASE), _plain(signal))
    for source, signal in [
        (_CONNECTION, "connection_lost"),
        (_DEATH, "died"),
        (_FULL, "inventory_full"),
        (_BLOCKED, "path_blocked"),
        (_REACH, "out_of_reach"),
    ]
]

_CODE_LINE = re.compile(
    r"^(?:In your program code:|Your code:|at |/|\S+\.js:\d+|throw new |throw )|;\s*$|in your code$"
)
_UNKNOWN_NAME = re.compile(r"No (?:block|item|mob|entity|recipe) named (?P<name>\w+)")


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
    """A recorded exception as a signal. One that names no unmet precondition is an action that could not be
    carried out as given."""
    message = exception_message(text)
    unknown = _UNKNOWN_NAME.search(message)
    if unknown:
        return Reading("invalid_action", unknown["name"])
    return _first(EXCEPTIONS, message, domain) or Reading("invalid_action")


def read_chat(text: str, domain: Domain) -> Reading:
    """A chat line as a signal: a primitive's fixed sentence, else the agent's own words."""
    for pattern, make in PRIMITIVES:
        match = pattern.match(text.strip())
        if match:
            return make(match, domain)
    for statement in statements(text):
        reading = read_statement(statement, domain)
        if reading.signal:
            return reading
    return _first(REPORTS, text, domain) or NOTHING


def _first(readers: Readers, text: str, domain: Domain) -> Reading | None:
    """The first reading that finds a signal in a text."""
    for pattern, make in readers:
        match = pattern.search(text)
        reading = make(match, domain) if match else NOTHING
        if reading.signal:
            return reading
    return None


def read_statement(statement: Statement, domain: Domain) -> Reading:
    """A statement as a signal; its noun phrase as a name of the domain where the domain knows it."""
    if statement.kind == "absent":
        return absence(statement.phrase, domain)
    if statement.kind == "seen":
        return Reading("target_seen", thing(statement.phrase, domain))
    if statement.kind == "short" and statement.phrase in ("fuel", "fuels"):
        return Reading("missing_fuel")
    if statement.kind == "short":
        return Reading("missing_requirement", thing(statement.phrase, domain), statement.count)
    signal = "claim" if statement.kind == "claim" else "claim_have"
    return Reading(signal, thing(statement.phrase, domain, statement.verb), statement.count)


def absence(phrase: str, domain: Domain) -> Reading:
    """What is absent decides what it means: a station, a tool, or something that was searched for."""
    name = phrase.replace(" ", "_")
    if name in ("path", "way", "route"):
        return Reading("path_blocked")
    if name in domain.stations:
        return Reading("missing_station", name)
    if name in domain.tool_classes or name in domain.tools:
        return Reading("missing_tool", name)
    return Reading("target_absent", thing(phrase, domain))


def thing(phrase: str, domain: Domain, verb: str = "") -> str:
    """The domain's name for a noun phrase; the phrase with underscores where it has none."""
    kind = (domain.kind_of(verb, phrase) if verb else None) or "mine"
    for attempt in (kind, "mine", "craft", "combat"):
        reading = domain.read_target(phrase, attempt)
        if reading is not None:
            return reading.target
    return phrase.replace(" ", "_")


def save_of(value: Any) -> tuple[str, str] | None:
    """A save event's name as (verb, thing): "oak_log_mined" -> ("mine", "oak_log")."""
    match = re.match(r"^(?P<name>\w+)_(?P<done>mined|killed|placed|crafted|smelted)$", str(value))
    verbs = {"mined": "mine", "killed": "kill", "placed": "place", "crafted": "craft", "smelted": "smelt"}
    return (verbs[match["done"]], match["name"]) if match else None


def spoken_by_agent(text: str) -> bool:
    """Is a chat line the agent's own, and not a control primitive's fixed sentence?"""
    return not any(pattern.match(text.strip()) for pattern, _ in PRIMITIVES)
