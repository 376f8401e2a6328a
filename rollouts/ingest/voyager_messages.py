"""Voyager's messages, read as signals.

Three sources speak in a Voyager recording: its control primitives, in fixed sentences (mine, craft, smelt,
place, kill, explore); exceptions (rollouts/ingest/voyager_errors.py); and the agent's program, in words of its
own (rollouts/ingest/statements.py). A signal says what the words say; whether it decides the attempt is
Monitor's business.
"""

import re
from typing import Any, Final

from rollouts.ingest.readings import NOTHING, Readers, Reading, action, first, named, plain, table
from rollouts.ingest.statements import Statement, statements
from warehouse.domains import Domain


def _shortage(match: re.Match[str], domain: Domain) -> Reading:
    found = re.findall(r"(\d+) more (\w+)", match["items"])
    items = tuple(sorted((name, int(count)) for count, name in found))
    return Reading("missing_item", f"craft:{match['name']}", None, items)


def _smelted(match: re.Match[str], domain: Domain) -> Reading:
    return Reading("done", f"smelt:{product(match['name'], domain)}", int(match["count"]))


def _smelt_failed(match: re.Match[str], domain: Domain) -> Reading:
    return Reading("result_failed", f"smelt:{product(match['name'], domain)}")


def one_missing(match: re.Match[str], domain: Domain) -> Reading:
    """One of the thing named was missing."""
    return Reading("missing_item", match["name"], None, ((match["name"], 1),))


def absent(match: re.Match[str], domain: Domain) -> Reading:
    """See `absence`."""
    return absence(match["name"].strip(), domain)


PRIMITIVES: Final[Readers] = table(
    [
        (r"^I can make (?P<name>\w+)$", action("started", "craft")),
        (r"^I cannot make (?P<name>\w+) because I need:(?P<items>.*)$", _shortage),
        (r"^I did the recipe for (?P<name>\w+) (?P<count>\d+) times$", action("done", "craft")),
        (
            r"^I cannot do the recipe for (?P<name>\w+) (?P<count>\d+) times$",
            action("result_failed", "craft"),
        ),
        (r"^I need at least an? (?P<name>\w+) to mine (?P<block>\w+)", named("missing_tool")),
        (r"^Failed to pick ?up item", plain("drop_lost")),
        (r"^No (?P<name>\w+) nearby, please explore first$", absent),
        (r"^No (?P<name>\w+) to smelt in inventory$", one_missing),
        (r"^No (?P<name>\w+) as fuel in inventory$", named("missing_fuel")),
        (r"^No (?P<name>\w+) in inventory$", one_missing),
        (r"^I don't see (?P<name>\w+) in this chest$", one_missing),
        (r"^No (?:item|block|mob|entity) named (?P<name>\w+)$", named("invalid_action")),
        (r"^Placing (?P<name>\w+) on ", action("started", "place")),
        (r"^Placed (?P<name>\w+)$", action("done", "place")),
        (r"^Error placing (?P<name>\w+): .*did not fire within timeout", named("action_timeout")),
        (r"^Error placing (?P<name>\w+): .*\b(?:path|goal)\b", named("path_blocked")),
        (r"^Error placing (?P<name>\w+): ", named("no_room")),
        (r"^No block to place (?P<name>\w+) on", named("no_room")),
        (r"^(?:Killed|Shot) (?P<name>\w+)!$", action("done", "kill")),
        (r"^Failed to (?:kill|shoot) (?P<name>\w+)", named("out_of_reach")),
        (r"^Smelted (?P<count>\d+) (?P<name>\w+)\.?$", _smelted),
        (r"^Failed to smelt (?P<name>\w+)", _smelt_failed),
        (r"^Explore success\.?$", plain("target_seen")),
        (r"^(?:Max exploration time reached|Failed to explore)", plain("target_absent")),
        # Said before every craft away from a station, whether the recipe needs one or not: decides nothing.
        (r"^(?:Craft without a |An? [\w ]+ needs to be nearby to start crafting)", plain(None)),
        (r"^Collect finish!$", plain(None)),
    ]
)

NO_ROOM: Final = (
    r"no (?:suitable |free |more )?(?:space|room|place|spot|position)\b.*\bplac|to place\b.*\bnot found"
)
FULL: Final = (
    r"inventory (?:is )?full|destination full|no (?:free |empty |more )?(?:slots?|space|room)\b.*\binventory"
)
NO_FUEL: Final = r"is not a valid fuel|\b(?:no|out of|not enough|needs?|requires?|without)\b[\w ]*\bfuel\b"
BLOCKED: Final = "|".join(
    (
        r"took to+ long to decide path|no path\b|path (?:is )?blocked|path was stopped|\bstuck\b",
        r"path(?:finder|finding)? (?:failed|timed out|was stopped)|goal was changed",
        r"cannot (?:find|reach) (?:a )?(?:path|goal)",
    )
)
REACH: Final = (
    r"failed to (?:kill|shoot|hit)|out of reach|too far|can(?:no|')t reach|not in (?:reach|range|view)"
)
LOST: Final = "|".join(
    (
        r"ECONN\w+|EPIPE|socket (?:hang up|closed)|was kicked|disconnected\b|keep-?alive|end of stream",
        r"connection (?:was )?(?:lost|closed|reset|refused|throttled|timed out)|client timed out",
        r"server (?:is )?(?:closed|not running|down)|bot (?:has )?not spawned|read timeout|request timed out",
        r"environment (?:crashed|is down|did not respond)",
    )
)
DEAD: Final = r"\b(?:bot|player|agent|i) (?:has )?(?:died|was slain|was killed|drowned|starved to death|burned to death)"

# What a program may report in its own words of what it met, when the words are no statement about a thing.
REPORTS: Final[Readers] = table(
    [
        (LOST, plain("connection_lost")),
        (DEAD, plain("died")),
        (NO_ROOM, plain("no_room")),
        (FULL, plain("inventory_full")),
        (NO_FUEL, plain("missing_fuel")),
        (BLOCKED, plain("path_blocked")),
        (REACH, plain("out_of_reach")),
        (r"must be an? \w+", plain("invalid_action")),
    ],
    re.IGNORECASE,
)
_EVERYTHING: Final = frozenset({"materials", "material", "resources", "ingredients", "items"})


def read_chat(text: str, domain: Domain) -> Reading:
    """A chat line as a signal: a primitive's fixed sentence, else the agent's own words."""
    for pattern, make in PRIMITIVES:
        match = pattern.match(text.strip())
        if match:
            return make(match, domain)
    reported = first(REPORTS, text, domain)
    if reported is not None and reported.signal in (
        "no_room",
        "inventory_full",
        "missing_fuel",
        "path_blocked",
    ):
        return reported  # its words look like a statement about a "room", a "slot", a "fuel" or a "path"
    return read_statements(text, domain) or reported or NOTHING


def read_statements(text: str, domain: Domain) -> Reading | None:
    """The first statement of a text that says something, as a signal."""
    for statement in statements(text):
        reading = read_statement(statement, domain)
        if reading.signal:
            return reading
    return None


def read_statement(statement: Statement, domain: Domain) -> Reading:
    """A statement as a signal; its noun phrase as a name of the domain where the domain knows it."""
    phrase, count = statement.phrase, statement.count
    match statement.kind:
        case "absent":
            return absence(phrase, domain)
        case "seen":
            return Reading("target_seen", thing(phrase, domain))
        case "short" | "need":
            return _want(statement, domain)
        case "claim":
            return Reading("claim", thing(phrase, domain, statement.verb), count)
        case _:
            return Reading("claim_have", thing(phrase, domain), count)


def _want(statement: Statement, domain: Domain) -> Reading:
    """The agent's word that it lacks something: a tool, a station to stand at, so many more, or just some."""
    if statement.phrase in _EVERYTHING:
        return Reading("missing_requirement")
    known = absence(statement.phrase, domain)
    if known.signal == "missing_tool" or (known.signal == "missing_station" and statement.kind == "need"):
        return known
    name = thing(statement.phrase, domain)
    if statement.more and statement.count is not None:
        return Reading("missing_item", name, None, ((name, statement.count),))
    return Reading("missing_requirement", name, statement.count)


def absence(phrase: str, domain: Domain) -> Reading:
    """What is absent decides what it means: a way, a station, a tool, or something that was searched for."""
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


def product(name: str, domain: Domain) -> str:
    """What smelting a thing gives; the name itself where it gives nothing."""
    return domain.smelting.get(name, name)


def save_of(value: Any) -> tuple[str, str] | None:
    """A save event's name as (verb, thing): "oak_log_mined" -> ("mine", "oak_log")."""
    match = re.match(r"^(?P<name>\w+)_(?P<done>mined|killed|placed|crafted|smelted)$", str(value))
    verbs = {"mined": "mine", "killed": "kill", "placed": "place", "crafted": "craft", "smelted": "smelt"}
    return (verbs[match["done"]], match["name"]) if match else None


def spoken_by_agent(text: str) -> bool:
    """Is a chat line the agent's own, and not a control primitive's fixed sentence?"""
    return not any(pattern.match(text.strip()) for pattern, _ in PRIMITIVES)
