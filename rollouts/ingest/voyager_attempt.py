"""One Voyager event file on its way into contract rows: baseline, readings, gains, claims, findings."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import degrees
from pathlib import Path
from typing import Any, Final

from rollouts.ingest.gains import Inventory, Observed, amounts, changes, largest_gain
from rollouts.ingest.protocol import Recording, Row, printable
from rollouts.ingest.readings import NOTHING, Reading
from rollouts.ingest.statements import restates, statements
from rollouts.ingest.task_text import TaskReading
from rollouts.ingest.voyager_errors import read_error
from rollouts.ingest.voyager_folder import EventFile, Pair, is_coordinate, read_labels
from rollouts.ingest.voyager_messages import read_chat, save_of, spoken_by_agent
from rollouts.ingest.voyager_scene import sightings
from warehouse.domains import Domain

# The recorder waits 20 ticks before the program starts and 20 more after it ends: what differs at such an
# observation from the file before was done by nobody in this attempt.
START_WAIT: Final = 20
END_WAIT: Final = 20
# Orders whose result is that their object leaves the inventory.
USED_UP_BY: Final = frozenset({"place", "plant", "eat", "drink"})
KILLING: Final = frozenset({"kill", "hunt", "slay", "defeat", "attack", "fight"})


@dataclass
class Carry:
    """What one file of a run leaves to the next: its last inventory, and what its last look had lost."""

    inventory: Inventory | None = None
    lost_at_end: dict[str, int] = field(default_factory=dict)


class Labels:
    """The source's own verdicts: `exact` where a text stands once in one list and one attempt has it."""

    def __init__(self, run: Path, folder: Path, files: Sequence[EventFile]) -> None:
        self.completed, self.failed, self.rows = read_labels(run, folder)
        self.attempts: dict[str, int] = {}
        for file in files:
            self.attempts[file.task] = self.attempts.get(file.task, 0) + 1

    def of(self, task: str) -> tuple[bool | None, str | None]:
        completed, failed = self.completed.get(task, 0), self.failed.get(task, 0)
        if bool(completed) == bool(failed):
            return None, None  # in neither list, or in both: the text decides nothing
        exact = self.attempts.get(task, 0) == 1 and completed + failed == 1
        return bool(completed), "exact" if exact else "task_text"


class Attempt:
    """One event file on its way into contract rows."""

    def __init__(
        self, file: EventFile, task: TaskReading, domain: Domain, episode_id: str, number: int, clock: int
    ) -> None:
        self.file = file
        self.task = task
        self.domain = domain
        self.key = {"episode_id": episode_id, "attempt": number}
        self.start_tick = clock
        self.ticks = _running_ticks(file.pairs, clock)
        self.end_tick = self.ticks[-1] if self.ticks else clock

    def add_to(self, recording: Recording, ticks: list[Row], carry: Carry, labels: Labels) -> None:
        """Appends this attempt's rows and leaves in `carry` what the next file of the run needs."""
        baseline, differs = self._baseline(carry)
        readings = self._readings(baseline)
        observed = self._observed(baseline, readings)
        gained = self._gained(baseline, observed)
        success = self._success(gained)
        label, basis = labels.of(self.file.task)
        scenes, looks = sightings(self.file.pairs, self.ticks, self.domain)
        recording.attempts.append(
            self.key
            | {
                "source": self.file.relative,
                "condition": self.file.task,
                "kind": self.task.kind,
                "target": self.task.target,
                "needed": self.task.needed,
                "relative": True if self.task.target else None,
                "start_tick": self.start_tick,
                "end_tick": self.end_tick,
                "success": success,
                "gained": gained,
                "claimed": self._claimed() if self.file.pairs else None,
                "label": label,
                "label_basis": basis,
                "end_reason": "infrastructure"
                if not self._recorded
                else "success"
                if success
                else "agent_stopped",
                "state_before": self._state(0, baseline, scenes),
                "state_after": self._state(-1, observed[-1].inventory if observed else None, scenes),
            }
        )
        ticks.extend(self._tick_rows())
        recording.events += [
            self._event(seq, pair, readings[seq]) for seq, pair in enumerate(self.file.pairs)
        ]
        recording.sightings += [self.key | look for look in looks]
        recording.inventory_changes += [
            self.key | {"tick": tick, "seq": seq, "item": item, "delta": delta, "count": count}
            for tick, seq, item, delta, count in changes(baseline or {}, observed)
        ]
        recording.data_quality += self._findings(differs, gained, success, observed, baseline)
        if observed:
            carry.lost_at_end = _lost_at_last_look(self.file.pairs)
            carry.inventory = observed[-1].inventory

    @property
    def _recorded(self) -> bool:
        """Was the attempt recorded to its end? Not when no event came, nor when the file breaks off."""
        return bool(self.file.pairs) and not self.file.broken

    def _baseline(self, carry: Carry) -> tuple[Inventory | None, bool]:
        """The inventory before the first action, and whether it differs from where the last file ended."""
        pairs = [pair for pair in self.file.pairs if pair.inventory is not None]
        if not pairs:
            return carry.inventory, False
        idle = [pair for pair in pairs if (pair.elapsed or 0) <= START_WAIT]
        only_looks = all(pair.name == "observe" for pair in pairs)
        if not idle and only_looks and (pairs[0].elapsed or 0) <= START_WAIT + END_WAIT:
            idle = pairs[:1]
        settled = idle[-1].inventory if idle else None
        differs = carry.inventory is not None and settled is not None and settled != carry.inventory
        baseline = settled if settled is not None else carry.inventory
        if baseline is None:
            baseline = pairs[0].inventory or {}
        return self._restored(dict(baseline), carry), differs

    def _restored(self, baseline: dict[str, int], carry: Carry) -> dict[str, int]:
        """Items that the last look of the file before had lost, and that come back here in one step by just
        that number, were held all along: the look lagged behind."""
        for item, lost in carry.lost_at_end.items():
            counts = [baseline.get(item, 0)]
            counts += [pair.inventory.get(item, 0) for pair in self.file.pairs if pair.inventory is not None]
            if any(after - before == lost for before, after in pairwise(counts)):
                baseline[item] = baseline.get(item, 0) + lost
        return baseline

    def _readings(self, baseline: Inventory | None) -> list[Reading]:
        """Each event as a signal. A save event is a result only if the inventory shows what it names."""
        found: list[Reading] = []
        since = dict(baseline or {})
        for pair in self.file.pairs:
            value = pair.body.get(pair.name)
            reading = NOTHING
            if pair.name == "onChat" and isinstance(value, str):
                reading = read_chat(value, self.domain)
            elif pair.name == "onError":
                reading = read_error(str(value), self.domain)
            elif pair.name == "onSave":
                saved = save_of(value)
                if saved is not None and saved[0] == "mine":
                    held = pair.inventory or since
                    accepted = self.domain.accepts(saved[1], "mine")
                    gain = sum(held.get(item, 0) - since.get(item, 0) for item in accepted)
                    if gain > 0:
                        reading = Reading("done", f"mine:{saved[1]}", gain)
                    since = dict(held)
            if reading.signal == "done" and pair.inventory is not None:
                since = dict(pair.inventory)
            found.append(reading)
        return found

    def _observed(self, baseline: Inventory | None, readings: Sequence[Reading]) -> list[Observed]:
        steps = []
        held: Inventory = baseline or {}
        for pair, tick, reading in zip(self.file.pairs, self.ticks, readings, strict=True):
            held = pair.inventory if pair.inventory is not None else held
            yielded: frozenset[str] = frozenset()
            if reading.name and (reading.signal == "done" or reading.signal == "result_failed"):
                verb, _, thing = reading.name.partition(":")
                yielded = self.domain.accepts(thing, self.domain.kind_of(verb, thing) or "craft") | {thing}
            steps.append(Observed(tick, held, yielded))
        return steps

    def _gained(self, baseline: Inventory | None, observed: Sequence[Observed]) -> int | None:
        """How many of the asked result the inventory shows; for what is used up, how many left it."""
        if baseline is None or self.task.target is None:
            return None
        if self.task.verb in USED_UP_BY:
            negated = [Observed(step.tick, _negated(step.inventory)) for step in observed]
            return largest_gain(_negated(baseline), negated, self.domain.expand(self.task.target))
        if self.task.kind == "use":
            return None  # what a use should change is not told by its words
        gain = largest_gain(baseline, observed, self.task.accepts, each=self.task.kind == "combat")
        killed = self._killed()
        # One kill may drop several: where kills were announced, no more were made than that.
        return min(gain, killed) if gain is not None and killed and self.task.verb in KILLING else gain

    def _killed(self) -> int:
        """How many kills of the target the recording announces."""
        texts = (str(pair.body.get("onChat")) for pair in self.file.pairs if pair.name == "onChat")
        readings = (read_chat(text, self.domain) for text in texts)
        return sum(
            r.count or 1 for r in readings if r.signal == "done" and r.name == f"kill:{self.task.target}"
        )

    def _success(self, gained: int | None) -> bool | None:
        if gained is None or self.task.needed is None:
            return None
        if gained >= self.task.needed:
            return True
        return False if self._recorded else None

    def _claimed(self) -> bool:
        """Does the agent say that the task's own asked result exists? A claim about a sub-step is none."""
        for pair in self.file.pairs:
            text = pair.body.get("onChat")
            if not isinstance(text, str) or not spoken_by_agent(text):
                continue
            if self.task.target is None:
                if restates(text, self.file.task):
                    return True
                continue
            for statement in statements(text):
                if statement.kind not in ("claim", "have"):
                    continue
                enough = statement.count is None or statement.count >= (self.task.needed or 1)
                said_of_it = self._is_about_the_task(statement.verb)
                if enough and said_of_it and self._names_target(statement.phrase):
                    return True
        return False

    def _names_target(self, phrase: str) -> bool:
        kind = self.task.kind or "mine"
        reading = self.domain.read_target(phrase, kind)
        if reading is None:
            return False
        if self.task.accepts:
            return bool(reading.accepts & self.task.accepts)
        return reading.target == self.task.target  # a use gains nothing: its object is what it is about

    def _is_about_the_task(self, verb: str) -> bool:
        """Can a statement with this verb claim the result? To place or to wear a thing is not to have made
        it, and to have made it is not to have placed it."""
        uses = bool(verb) and self.domain.kind_of(verb) == "use"
        return uses == (self.task.kind == "use") and (not uses or verb == self.task.verb)

    def _event(self, seq: int, pair: Pair, reading: Reading) -> Row:
        kinds = {"onChat": "chat", "onError": "error", "onSave": "action_result"}
        value = pair.body.get(pair.name)
        name = reading.name
        if pair.name == "onSave" and name is None:
            saved = save_of(value)
            name = f"{saved[0]}:{saved[1]}" if saved else None
        elif pair.name not in kinds:
            name = pair.name
        return self.key | {
            "tick": self.ticks[seq],
            "seq": seq,
            "kind": kinds.get(pair.name, "game"),
            "name": name,
            "count": reading.count,
            "text": None if value is None else printable_lines(str(value)),
            "signal": reading.signal,
            "items": [{"name": item, "count": count} for item, count in reading.items] or None,
        }

    def _tick_rows(self) -> list[Row]:
        """One row per tick: of several events at one tick, the last one's state."""
        rows: dict[int, Row] = {}
        for pair, tick in zip(self.file.pairs, self.ticks, strict=True):
            rows[tick] = self.key | {"tick": tick} | _vitals(pair) | _pose(pair)
        return [rows[tick] for tick in sorted(rows)]

    def _state(self, index: int, inventory: Inventory | None, scenes: Sequence[list[str]]) -> Row | None:
        if not self.file.pairs:
            return None
        pair = self.file.pairs[index]
        vitals = _vitals(pair)
        pose = _pose(pair)
        return {
            **{axis: pose[axis] for axis in "xyz"},
            "health": vitals["health"],
            "hunger": vitals["hunger"],
            "alive": vitals["alive"],
            "equipped": vitals["equipped"],
            "gui": None,
            "inventory": None if inventory is None else amounts(inventory),
            "near": None,
            "seen": scenes[index],
        }

    def _findings(
        self,
        differs: bool,
        gained: int | None,
        success: bool | None,
        observed: Sequence[Observed],
        baseline: Inventory | None,
    ) -> list[Row]:
        rows = []
        if differs:
            rows.append(
                ("state_changed_between_files", self.start_tick, "inventory differs with no action between")
            )
        back = [
            index
            for index in range(1, len(self.file.pairs))
            if (self.file.pairs[index].elapsed or 0) < (self.file.pairs[index - 1].elapsed or 0)
        ]
        rows += [
            ("time_backwards", self.ticks[index], f"event {index} is earlier than the one before")
            for index in back
        ]
        if success and observed and self.task.verb not in USED_UP_BY:
            accepts = self.task.accepts
            left = largest_gain(baseline or {}, observed[-1:], accepts, each=self.task.kind == "combat") or 0
            if left < (self.task.needed or 1):
                rows.append(
                    (
                        "result_vanished",
                        self.end_tick,
                        f"{gained} gained, {left} left at the last observation",
                    )
                )
        return [self.key | {"finding": what, "tick": tick, "detail": detail} for what, tick, detail in rows]


def printable_lines(text: str) -> str:
    """`printable`, line by line: line breaks stay."""
    return "\n".join(printable(line) for line in text.splitlines())


def _running_ticks(pairs: Sequence[Pair], clock: int) -> list[int]:
    ticks = []
    latest = clock
    for pair in pairs:
        latest = max(latest, clock + (pair.elapsed or 0))
        ticks.append(latest)
    return ticks


def _lost_at_last_look(pairs: Sequence[Pair]) -> dict[str, int]:
    """Item -> how many of it the closing look lacks against the event before, with no action between."""
    known = [pair.inventory for pair in pairs if pair.inventory is not None]
    if len(known) < 2 or pairs[-1].name != "observe":
        return {}
    before, after = known[-2], known[-1]
    return {
        item: count - after.get(item, 0)
        for item, count in sorted(before.items())
        if after.get(item, 0) < count
    }


def _negated(inventory: Inventory) -> dict[str, int]:
    return {item: -count for item, count in inventory.items()}


def _number(value: Any) -> float | None:
    return float(value) if is_coordinate(value) else None


def _vitals(pair: Pair) -> Row:
    health = _number(pair.status.get("health"))
    equipment = pair.status.get("equipment")
    held = equipment[4] if isinstance(equipment, list) and len(equipment) > 4 else None
    return {
        "health": health,
        "hunger": _number(pair.status.get("food")),
        "alive": None if health is None else health > 0,
        "equipped": held if isinstance(held, str) else None,
    }


def _pose(pair: Pair) -> Row:
    position = pair.status.get("position")
    position = position if isinstance(position, dict) else {}
    yaw, pitch = _number(pair.status.get("yaw")), _number(pair.status.get("pitch"))
    return {
        **{axis: _number(position.get(axis)) for axis in "xyz"},
        "yaw": None if yaw is None else degrees(yaw),
        "pitch": None if pitch is None else degrees(pitch),
    }
