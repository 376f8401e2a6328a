"""Contractor recordings of the VPT project (and MineRL's JSON-lines form): one line a tick, with the inputs,
the position, the inventory and the game's own statistics. One file is one episode.

Nobody said what the player was after, so attempts are cut from what was achieved; see `segment`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from rollouts.ingest.jsonlines import JsonLines, first_object
from rollouts.ingest.observations import Columns
from rollouts.ingest.protocol import Recording, printable, quarantined, spared
from rollouts.ingest.tick_columns import CAMERA, MOTION, VITALS, Change, Track, count, number
from rollouts.ingest.tick_source import Held, Span, assemble, order_ticks
from rollouts.ingest.walk import any_file, files_below, left_over
from warehouse.domains import Domain
from warehouse.ids import derive_id, file_digest

FORMAT: Final = "vpt"
LONGEST_PAUSE: Final = 600
"""ticks (30 s) between two achievements of one kind that still belong to one attempt; a player who looks for
the next one longer than that has started anew"""
_RETURN: Final = 5  # ticks after a screen closes in which what the cursor held falls back into the inventory
_PLACE: Final = {"x": "xpos", "y": "ypos", "z": "zpos", "yaw": "yaw", "pitch": "pitch"}
_LARGEST_TIME: Final = float(1 << 53)  # up to here a float counts whole milliseconds
_CLOCKS: Final = ("tick", "serverTick", "milli")
_BUTTONS: Final = {0: "attack", 1: "use", 2: "pickItem"}
_KEYS: Final = {
    "w": "forward",
    "a": "left",
    "s": "back",
    "d": "right",
    "space": "jump",
    "left.shift": "sneak",
    "left.control": "sprint",
    "e": "inventory",
    "q": "drop",
    "f": "swapHands",
    "escape": "ESC",
    **{str(slot): f"hotbar.{slot}" for slot in range(1, 10)},
}
_KIND_OF_COUNTER: Final = {
    "mine_block": "mine",
    "craft_item": "craft",
    "kill_entity": "combat",
    "use_item": "use",
}


class VPTImporter:
    """Reads folders of contractor recordings."""

    name = FORMAT

    def recognises(self, folder: Path) -> bool:
        """Is there a file of JSON lines whose first object has the mouse, the keyboard and a clock?"""
        return any_file(folder, (".jsonl",), _is_recording)

    def read(self, folder: Path, build: str, domain: Domain) -> Iterator[Recording]:
        """Every file of JSON lines below `folder`, by name; other files are listed as they come."""
        walk = files_below(folder)
        rest = Recording(quarantine=walk.quarantine(FORMAT))
        for relative, path in walk.named().items():
            if path.suffix == ".jsonl":
                yield spared(relative, FORMAT, _read_file, path, relative, build, domain)
            else:
                # Options and checkpoints lie beside each recording; they say nothing of what happened.
                side = relative.endswith("-options.json")
                rest.quarantine.append(left_over(path, relative, FORMAT, side=side))
        yield rest


def _is_recording(path: Path) -> bool:
    seen = first_object(path)
    return seen is not None and _looks_right(seen)


def _looks_right(seen: Mapping[str, Any]) -> bool:
    return isinstance(seen.get("mouse"), dict) and isinstance(seen.get("keyboard"), dict)


def _read_file(path: Path, relative: str, build: str, domain: Domain) -> Recording:
    columns = Columns()
    lines = JsonLines(path)
    clocks: dict[str, list[float | None]] = {name: [] for name in _CLOCKS}
    foreign: list[int] = []
    for record in lines:
        if not _looks_right(record.value):
            foreign.append(record.offset)
            continue
        columns.offset = record.offset
        for name, times in clocks.items():
            times.append(_clock(columns, name, record.value.get(name)))
        _add(columns, record.value)
        columns.tick.append(columns.rows)
    quarantine = lines.quarantine(relative, FORMAT) if lines.faults or not lines.kept else []
    quarantine += columns.unread.quarantine(relative, FORMAT, columns.rows, lines.size)
    if foreign:
        reason = f"{len(foreign)} lines of another format: neither mouse nor keyboard"
        quarantine.append(
            quarantined(relative, FORMAT, reason, position=foreign[0], kept=columns.rows, size=lines.size)
        )
    if not columns.rows:
        return Recording(quarantine=quarantine)
    columns.tick, fallen = order_ticks(clocks["tick"])
    track = columns.track()
    track.clocks = [change for name, times in clocks.items() for change in _steps_back(name, times)]
    # The row before the fall is the last of what was one run.
    track.ends = [(row - 1, "the end of a run, whose tick count then starts anew") for row in fallen]
    source = printable(relative)
    last = track.ticks.height - 1
    episode = {
        "episode_id": derive_id("episode", [FORMAT, source, file_digest(path)]),
        "source": f"{FORMAT}:{source}",
        "build": build,
        "world": domain.name,
        "end_reason": "death" if track.deaths and track.deaths[-1] == last else "recording_end",
    }
    recording = assemble(track, episode, segment(track, domain), source, truncated=lines.truncated)
    recording.quarantine = quarantine
    return recording


def _clock(columns: Columns, name: str, value: Any) -> float | None:
    """A clock's time; one that no clock of a game can reach is unknown."""
    time = number(value)
    if time is not None and abs(time) > _LARGEST_TIME:
        time = None
    if time is None and value is not None:
        columns.unread.note(name, columns.offset)
    return time


def _steps_back(name: str, times: Sequence[float | None]) -> Iterator[Change]:
    before: float | None = None
    for row, now in enumerate(times):
        if now is not None:
            if before is not None and now < before:
                yield Change(row, name, int(before), int(now))
            before = now


def _add(columns: Columns, seen: Mapping[str, Any]) -> None:
    columns.hold(seen.get("inventory"))
    columns.count("", seen.get("stats"))
    for name in MOTION:
        columns.values[name].append(columns.number(_PLACE[name], seen.get(_PLACE[name])))
    for name in VITALS:
        columns.values[name].append(None)  # this format does not tell them
    columns.alive.append(None)
    columns.equipped.append(None)  # `hotbar` is a slot, and the inventory is a list without its empty slots
    columns.gui_open.append(columns.flag("isGuiOpen", seen.get("isGuiOpen")))
    own = columns.flag("isGuiInventory", seen.get("isGuiInventory"))
    columns.gui_told.append("inventory" if own else None)
    columns.inputs.append(_inputs(columns, seen["mouse"], seen["keyboard"]))


def _inputs(columns: Columns, mouse: Mapping[str, Any], keyboard: Mapping[str, Any]) -> frozenset[str]:
    inputs = set()
    for key in _each(columns, "keyboard.keys", keyboard.get("keys")):
        if isinstance(key, str):
            short = key.removeprefix("key.keyboard.")
            inputs.add(_KEYS.get(short, short))
        else:
            columns.unread.note("keyboard.keys", columns.offset)
    for button in _each(columns, "mouse.buttons", mouse.get("buttons")):
        which = count(button)
        if which is not None:
            inputs.add(_BUTTONS.get(which, f"button.{which}"))
        else:
            columns.unread.note("mouse.buttons", columns.offset)
    dx, dy = (columns.number(f"mouse.{axis}", mouse.get(axis)) for axis in ("dx", "dy"))
    if dx or dy:
        inputs.add(CAMERA)
    if columns.number("mouse.dwheel", mouse.get("dwheel")):
        inputs.add("scroll")
    return frozenset(inputs)


def _each(columns: Columns, name: str, value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if value is not None:
        columns.unread.note(name, columns.offset)
    return []


class Feat(NamedTuple):
    """Something achieved at a row of the track."""

    row: int
    kind: str
    target: str
    many: int


@dataclass
class _Run:
    """Repeated feats of one kind and target."""

    kind: str
    target: str
    last: int
    many: int


def segment(track: Track, domain: Domain) -> list[Span]:
    """Cuts a recording without subgoals into attempts.

    An attempt is the run of ticks that leads up to and includes repeated feats of one kind and target, from
    the end of the attempt before to its own last feat. It ends when a feat of another kind or target follows,
    when more than `LONGEST_PAUSE` passes, or with the agent's death. What is left, up to a death or the end,
    is an attempt without a target, its success unknown. Such an attempt is asked for one, since nobody said
    how many.
    """
    feats = _counted_feats(track, domain) if "counters" in track.observes else _inventory_feats(track, domain)
    best: dict[int, Feat] = {}
    for feat in feats:  # one attempt cannot end in the same tick as another; using a thing is but the means
        if feat.row not in best or best[feat.row].kind == "use":
            best[feat.row] = feat
    spans: list[Span] = []
    run: _Run | None = None
    start = 0

    def close() -> int:
        if run is None:
            return start
        words = f"{run.kind} {run.target}".replace("_", " ").replace("#", "")
        spans.append(
            Span(start, run.last, "success", run.kind, run.target, words, 1, success=True, gained=run.many)
        )
        return run.last + 1

    for row in sorted(best.keys() | set(track.deaths)):
        feat_here = best.get(row)
        if feat_here is not None:
            same = run is not None and (run.kind, run.target) == (feat_here.kind, feat_here.target)
            if run is not None and same and row - run.last <= LONGEST_PAUSE:
                run.last, run.many = row, run.many + feat_here.many
            else:
                start = close()
                run = _Run(feat_here.kind, feat_here.target, row, feat_here.many)
        if row in track.deaths:
            start, run = close(), None
            if start <= row:
                spans.append(Span(start, row, "death"))
                start = row + 1
    start = close()
    if start < track.ticks.height:
        spans.append(Span(start, track.ticks.height - 1, "agent_stopped"))
    return spans


def _counted_feats(track: Track, domain: Domain) -> Iterator[Feat]:
    guis = track.ticks["gui"].to_list()
    for change in track.counters:
        group, _, thing = change.name.partition(":")
        kind = _KIND_OF_COUNTER.get(group)
        # The game counts every block broken with a tool as a use of the tool.
        if kind is None or change.after <= change.before or (kind == "use" and thing in domain.tools):
            continue
        if kind == "craft" and thing in domain.smelting.values():
            kind = "smelt" if guis[change.row] == "furnace" or thing not in domain.recipes else kind
        yield Feat(change.row, kind, _named(thing, kind, domain), change.after - change.before)


def _inventory_feats(track: Track, domain: Domain) -> Iterator[Feat]:
    """Feats where no statistics were recorded: what the inventory gained. What only passes through the cursor
    of an open screen is no gain: there, a count must exceed all that was held since the screen opened."""
    guis = track.ticks["gui"].to_list()
    opened_at = _screens(guis)
    held = Held(track)
    floor: dict[str, int] = {}
    opened = -1
    for (_, before), (row, now) in pairwise(track.inventories):
        if opened_at[row] != opened:
            opened = opened_at[row]
            floor = dict(held.at(max(opened - 1, 0)) or {})
        base = before if opened < 0 else floor
        for item, many in now.items():
            kind = _kind_of_gain(item, guis[row], domain)
            if kind is not None and many > base.get(item, 0):
                yield Feat(row, kind, _named(item, kind, domain), many - base.get(item, 0))
        floor |= {item: max(many, floor.get(item, 0)) for item, many in now.items()}


def _screens(guis: Sequence[str | None]) -> list[int]:
    """For every row the row at which the screen opened that is open, or closed just before; -1 for none."""
    opened_at: list[int] = []
    opened = closed = -1
    for row, gui in enumerate(guis):
        if gui in (None, "none"):
            if opened >= 0 and row - closed > _RETURN:
                opened = -1
        else:
            opened, closed = (opened if opened >= 0 else row), row
        opened_at.append(opened)
    return opened_at


def _kind_of_gain(item: str, gui: str | None, domain: Domain) -> str | None:
    """How an item was probably got: out of an open screen, or picked up from the world."""
    if gui not in (None, "none"):
        if item in domain.smelting.values() and (gui == "furnace" or item not in domain.recipes):
            return "smelt"
        return "craft" if item in domain.recipes else None
    if item in domain.blocks or any(item in drops for drops in domain.drops.values()):
        return "mine"
    return "combat" if any(item in drops for drops in domain.entity_drops.values()) else None


def _named(thing: str, kind: str, domain: Domain) -> str:
    reading = domain.read_target(thing.replace("_", " "), kind)
    return reading.target if reading else thing
