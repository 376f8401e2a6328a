"""MineStudio rollouts: an observation and an action a tick, as JSON lines or as `RecordCallback` writes them.

A rollout is `info.jsonl` with `action.jsonl` in a folder that bears the task's name, or `episode_N_info.json`
with `episode_N_action.json`. Row i of one belongs to row i of the other: the action, and the observation
after it. One rollout is one episode with one attempt.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from rollouts.ingest.jsonlines import ObjectFile, first_object, open_objects
from rollouts.ingest.observations import Columns
from rollouts.ingest.protocol import Recording, Row, printable, quarantined, spared
from rollouts.ingest.tick_columns import COUNTERS, LARGEST_COUNT, Track, Unread, hand, pressed
from rollouts.ingest.tick_source import Gain, Task, counter_gain, inventory_gain, one_attempt, read_task
from rollouts.ingest.walk import Walk, any_file, files_below, left_over
from warehouse.domains import Domain
from warehouse.ids import derive_id, file_digest

FORMAT: Final = "minestudio"
_INFO = re.compile(r"^(?P<stem>.*?)info(?P<ending>\.jsonl?)$", re.DOTALL)
_ACTION = re.compile(r"^(?P<stem>.*?)action(?P<ending>\.jsonl?)$", re.DOTALL)
_TASK = re.compile(
    r"(?:^|[^a-z])(?P<verb>mine_block|craft_item|kill_entity|use_item|pickup|drop|break_item)"
    r"[.:](?P<thing>[a-z0-9_]+)"
)
# The recorder's own status line counts its frames: it says nothing of the game and changes at every tick.
_RECORDERS_OWN: Final = frozenset({"RecordCallback"})
_PLACE: Final = ("xpos", "ypos", "zpos", "yaw", "pitch")
_PLAYER: Final = ("x", "y", "z", "yaw", "pitch")
_EVIDENT_IN_INVENTORY: Final = frozenset({"mine", "craft", "smelt"})


class MineStudioImporter:
    """Reads folders of MineStudio rollouts."""

    name = FORMAT

    def recognises(self, folder: Path) -> bool:
        """Is there a file whose first object looks like the simulator's info?"""
        return any_file(folder, ("info.jsonl", "info.json"), _is_info)

    def read(self, folder: Path, build: str, domain: Domain) -> Iterator[Recording]:
        """Every rollout below `folder`, by name; then what belongs to none."""
        walk = files_below(folder)
        files = walk.named()
        used: set[str] = set()
        for relative, path in files.items():
            match = _INFO.match(path.name)
            if match is None:
                continue
            beside = relative[: len(relative) - len(path.name)] + f"{match['stem']}action{match['ending']}"
            used |= {relative, beside}
            rollout = _Rollout(walk, path, relative, files.get(beside), beside)
            yield spared(relative, FORMAT, _read_rollout, rollout, build, domain)
        rest = Recording(quarantine=walk.quarantine(FORMAT))
        for relative, path in files.items():
            if relative in used:
                continue
            if _ACTION.match(path.name):
                reason = "actions without observations: no info file beside it"
                rest.quarantine.append(quarantined(relative, FORMAT, reason, position=0))
            else:
                rest.quarantine.append(left_over(path, relative, FORMAT))
        yield rest


class _Rollout(NamedTuple):
    """The files of one rollout; `action` is None where it has none that can be read."""

    walk: Walk
    info: Path
    relative: str
    action: Path | None
    beside: str


def _is_info(path: Path) -> bool:
    seen = first_object(path)
    return seen is not None and _looks_like_info(seen)


def _looks_like_info(seen: Mapping[str, Any]) -> bool:
    # Contractor recordings of the same game have both, and the mouse too.
    known = (
        "inventory",
        "location_stats",
        "player_pos",
        "is_gui_open",
        "isGuiOpen",
        "equipped_items",
        "health",
    )
    return "mouse" not in seen and sum(key in seen for key in known) >= 2


def _read_rollout(rollout: _Rollout, build: str, domain: Domain) -> Recording:
    relative, beside = rollout.relative, rollout.beside
    columns = Columns()
    infos = open_objects(rollout.info)
    actions = _read_actions(rollout.action) if rollout.action is not None else None
    last = _read_infos(infos, columns, actions.inputs if actions else {})
    quarantine = infos.quarantine(relative, FORMAT) if infos.faults or not infos.kept else []
    quarantine += columns.unread.quarantine(relative, FORMAT, columns.rows, infos.size)
    if infos.kept and not columns.rows:
        reason = "another format: no observation in it"
        quarantine.append(quarantined(relative, FORMAT, reason, position=0, size=infos.size))
    if actions is not None:
        quarantine += _about_actions(actions, beside, last)
    elif columns.rows and printable(beside) not in {refused for refused, _ in rollout.walk.refused}:
        reason = "missing: the observations are kept without their actions"
        quarantine.append(quarantined(beside, FORMAT, reason))
    if not columns.rows:
        return Recording(quarantine=quarantine)
    hashes = [
        file_digest(reader.path) for reader in (infos, actions and actions.file) if reader and reader.size
    ]
    track = columns.track()
    source = printable(relative)
    episode: Row = {
        "episode_id": derive_id("episode", [FORMAT, source, *hashes]),
        "source": f"{FORMAT}:{source}",
        "build": build,
        "world": FORMAT,
    }
    task = _task(rollout.walk.root, relative, domain)
    gain, success = _success(track, task)
    recording = one_attempt(track, task, gain, success, episode, source, truncated=infos.truncated)
    recording.quarantine = quarantine
    return recording


class _Actions(NamedTuple):
    """The inputs by row, how many rows the file has, and how many are in a policy's own coding."""

    file: ObjectFile
    inputs: dict[int, frozenset[str]]
    told: int
    coded: int
    unread: Unread


def _read_actions(path: Path) -> _Actions:
    file = open_objects(path)
    inputs: dict[int, frozenset[str]] = {}
    told = coded = 0
    unread = Unread()
    for record in file:
        told = record.nth + 1
        if "buttons" in record.value:  # one number for all keys: only the policy's tables tell which
            coded += 1
        elif record.value:  # the recorder writes {} for the reset, which is no action
            inputs[record.nth] = pressed(record.value, unread, record.offset)
    return _Actions(file, inputs, told, coded, unread)


def _read_infos(infos: ObjectFile, columns: Columns, inputs: Mapping[int, frozenset[str]]) -> int:
    """Fills the columns; the number of rows that the file has, broken ones included."""
    last = -1
    for record in infos:
        seen = record.value
        if record.nth > LARGEST_COUNT or not (columns.rows or _looks_like_info(seen)):
            continue
        last = record.nth
        columns.offset = record.offset
        _add(columns, seen)
        columns.tick.append(record.nth)
        columns.inputs.append(inputs.get(record.nth))
    return last + 1


def _add(columns: Columns, seen: Mapping[str, Any]) -> None:
    columns.hold(seen.get("inventory"))
    message = seen.get("message")
    for speaker, text in message.items() if isinstance(message, dict) else [("", message)]:
        if speaker not in _RECORDERS_OWN:
            columns.say(str(speaker), text)
    for group in COUNTERS:
        columns.count(group, seen.get(group))
    columns.count("", seen.get("stats"))

    place, names = ("location_stats", _PLACE) if "location_stats" in seen else ("player_pos", _PLAYER)
    where = columns.mapping(place, seen.get(place))
    vital = columns.mapping("life_stats", seen.get("life_stats"))
    for name, key in zip(_PLAYER, names, strict=True):
        columns.values[name].append(columns.number(key, where.get(key)))
    health = columns.number("health", seen.get("health", vital.get("life")))
    columns.values["health"].append(health)
    columns.values["hunger"].append(columns.number("food_level", seen.get("food_level", vital.get("food"))))
    alive = columns.flag("is_alive", vital.get("is_alive"))
    if alive is None and health is not None:
        alive = health > 0
    columns.alive.append(alive)
    worn = columns.mapping("equipped_items", seen.get("equipped_items", seen.get("equipped_item")))
    columns.equipped.append(hand(worn.get("mainhand")))
    columns.gui_open.append(columns.flag("is_gui_open", seen.get("is_gui_open", seen.get("isGuiOpen"))))
    columns.gui_told.append(None)


def _about_actions(actions: _Actions, beside: str, rows: int) -> list[Row]:
    file = actions.file
    found = file.quarantine(beside, FORMAT) if file.faults or not file.kept else []
    found += actions.unread.quarantine(beside, FORMAT, len(actions.inputs), file.size)
    if actions.told and rows and actions.told != rows:
        pairs = min(actions.told, rows)
        reason = f"{actions.told} actions beside {rows} observations: the first {pairs} are taken as pairs"
        found.append(quarantined(beside, FORMAT, reason, kept=pairs, size=file.size))
    if actions.coded:
        reason = f"{actions.coded} actions in a policy's own coding cannot be read as inputs"
        found.append(quarantined(beside, FORMAT, reason, kept=len(actions.inputs), size=file.size))
    return found


def _task(folder: Path, relative: str, domain: Domain) -> Task:
    """The task that the rollout's nearest folder names, the imported folder itself included."""
    for part in reversed([folder.name, *Path(relative).parts]):
        match = _TASK.search(part)
        if match is not None:
            return read_task(match["verb"], match["thing"], domain)
    return Task(None, None, None, frozenset())


def _success(track: Track, task: Task) -> tuple[Gain | None, bool | None]:
    """Success by evidence: the accepted items rose, or the task's own counter did. Without a rise it is a
    failure where the result would have shown, and undecided elsewhere."""
    if task.target is None or task.needed is None or task.kind is None:
        return None, None
    counted = counter_gain(track, frozenset({task.counter}), task.needed)
    held = inventory_gain(track, task.accepts, (0, track.ticks.height - 1), task.needed)
    best = max((gain for gain in (counted, held) if gain is not None), key=lambda gain: gain.many)
    if best.many >= task.needed:
        reached = min(gain.reached for gain in (counted, held) if gain and gain.reached is not None)
        return Gain(best.many, reached), True
    shows = held is not None and task.kind in _EVIDENT_IN_INVENTORY
    return (best, False) if shows or "counters" in track.observes else (None, None)
