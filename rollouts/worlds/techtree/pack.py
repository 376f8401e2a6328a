"""What the agent carries: 36 slots, each a stack of one item; what wears has a slot to itself."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

SLOTS: Final = 36


@dataclass
class Slot:
    """A stack; `wear` is how many uses are gone."""

    item: str
    count: int
    wear: int = 0


class Pack:
    """Slots and what is in the hand. Every change of a count goes into `changes` until it is taken out.

    `stack_of` gives how many of an item share a slot.
    """

    def __init__(self, stack_of: Callable[[str], int]) -> None:
        self._stack_of = stack_of
        self.slots: list[Slot | None] = [None] * SLOTS
        self.hand: int | None = None
        """the slot whose item is held; None: bare hand"""
        self.counts: dict[str, int] = {}
        self.changes: list[tuple[str, int, int]] = []
        """(item, delta, count after)"""

    @property
    def held(self) -> Slot | None:
        """The stack in the hand."""
        return None if self.hand is None else self.slots[self.hand]

    @property
    def held_item(self) -> str | None:
        """The item in the hand; None for a bare hand."""
        held = None if self.hand is None else self.slots[self.hand]
        return held.item if held else None

    def room(self, item: str) -> int:
        """How many more of `item` fit."""
        stack = self._stack_of(item)
        free = sum(slot is None for slot in self.slots) * stack
        return free + sum(stack - slot.count for slot in self.slots if slot and slot.item == item)

    def add(self, item: str, count: int, wear: int = 0) -> int:
        """Puts up to `count` of `item` in, onto begun stacks first; how many went in."""
        stack = self._stack_of(item)
        left = count
        if stack > 1:
            for slot in self.slots:
                if slot is not None and slot.item == item and slot.count < stack:
                    moved = min(left, stack - slot.count)
                    slot.count += moved
                    left -= moved
                    if not left:
                        break
        for index, slot in enumerate(self.slots if left else ()):
            if slot is None:
                moved = min(left, stack)
                self.slots[index] = Slot(item, moved, wear)
                left -= moved
                if not left:
                    break
        self._note(item, count - left)
        return count - left

    def take(self, item: str, count: int) -> None:
        """Takes `count` of `item` out, the most worn and the smallest stacks first.

        Raises `ValueError` if there are fewer.
        """
        if self.counts.get(item, 0) < count:
            raise ValueError(f"{count} {item} wanted, {self.counts.get(item, 0)} held")
        order = [index for index, slot in enumerate(self.slots) if slot and slot.item == item]
        order.sort(key=lambda index: self._eagerness(index))
        left = count
        for index in order:
            left -= self._take_from(index, left)
        self._note(item, -count)

    def take_held(self, count: int = 1) -> None:
        """Takes some of what is in the hand; `ValueError` if the hand has fewer."""
        held = self.held
        if self.hand is None or held is None or held.count < count:
            raise ValueError("the hand does not hold so many")
        item = held.item
        self._take_from(self.hand, count)
        self._note(item, -count)

    def hold(self, item: str) -> bool:
        """Takes `item` into the hand, the least worn of its kind; False if there is none."""
        held = self.held
        if held and held.item == item:
            return True
        slots = [(slot.wear, index) for index, slot in enumerate(self.slots) if slot and slot.item == item]
        if not slots:
            return False
        self.hand = min(slots)[1]
        return True

    def empty(self) -> list[Slot]:
        """Everything out, as when the agent dies."""
        out = [slot for slot in self.slots if slot]
        self.slots, self.hand = [None] * SLOTS, None
        for item in sorted(self.counts):
            self._note(item, -self.counts[item])
        return out

    def flush(self) -> list[tuple[str, int, int]]:
        """The changes since the last call, per item and in order of item."""
        merged: dict[str, int] = {}
        for item, delta, _ in self.changes:
            merged[item] = merged.get(item, 0) + delta
        self.changes = []
        return [(item, delta, self.counts.get(item, 0)) for item, delta in sorted(merged.items()) if delta]

    def state(self) -> tuple[object, ...]:
        """Everything that decides what comes next, for comparing two worlds."""
        rows = tuple((slot.item, slot.count, slot.wear) if slot else None for slot in self.slots)
        return rows, self.hand

    def _eagerness(self, index: int) -> tuple[int, int, int]:
        slot = self.slots[index]
        assert slot is not None
        return -slot.wear, slot.count, index

    def _take_from(self, index: int, wanted: int) -> int:
        slot = self.slots[index]
        assert slot is not None
        taken = min(wanted, slot.count)
        slot.count -= taken
        if slot.count == 0:
            self.slots[index] = None
            if self.hand == index:
                self.hand = None
        return taken

    def _note(self, item: str, delta: int) -> None:
        if delta == 0:
            return
        left = self.counts.get(item, 0) + delta
        self.changes.append((item, delta, left))
        if left:
            self.counts[item] = left
        else:
            self.counts.pop(item, None)
