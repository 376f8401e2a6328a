"""C_conflict: which entries contradict each other, decided by structure.

Two entries conflict when some state satisfies the conditions of both and they tell to do what cannot both be
right there:

- a remedy replaces an action, and a skill prescribes that action in a situation that the remedy is about;
- two remedies replace each other's actions;
- two remedies for one failure, or two skills for one action, aim at states that exclude each other;
- two remedies for one failure do the same steps in different orders.

A remedy that prepares an action, by supplying what it lacked, contradicts nobody who prescribes the action.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from warehouse.domains.model import Domain
from warehouse.entries import Entry
from warehouse.grammar import (
    Action,
    action_of,
    blocks_for,
    conditions_of,
    known_names,
    same_action,
    steps_of,
    yields_of,
)
from warehouse.knowledge import Check, Predicate, RemedyContent, SkillContent, Step
from warehouse.regions import contradictions, overlap
from warehouse.state import OUTCOMES

_ACTION_FIELDS = ("kind", "target")
_Table = defaultdict[object, dict[str, Entry]]


def conflict(one: Entry, other: Entry, domain: Domain) -> bool:
    """Whether two entries contradict each other; symmetric, and false for an entry with itself."""
    if one.entry_id == other.entry_id or one.domain != other.domain:
        return False
    first, second = one.content, other.content
    if isinstance(first, SkillContent) and isinstance(second, SkillContent):
        return _same_aim_other_end(one, other, domain)
    if isinstance(first, SkillContent):
        return _replaces_step(other, one, domain)
    if isinstance(second, SkillContent):
        return _replaces_step(one, other, domain)
    return (
        _replace_each_other(one, other, domain)
        or _same_aim_other_end(one, other, domain)
        or _other_order(one, other, domain)
    )


def replaced_action(content: RemedyContent, domain: Domain) -> Action | None:
    """The action that a remedy does something else for, None if it does not.

    It does when its repair never comes back to the action, nothing in it prepares the action, and a step
    stands in for it: the same kind of action on another target, or another way to the same result.
    """
    repair = tuple((step.kind, step.target) for step in content.repair)
    return _replaced(action_of(content), content.risk.missing, repair, domain)


@lru_cache(maxsize=1 << 14)
def _replaced(
    risk: Action, missing: tuple[str, ...], repair: tuple[tuple[str, str | None], ...], domain: Domain
) -> Action | None:
    if risk[0] is None or risk[1] is None:
        return None
    if any(_are_same(action, risk, domain) for action in repair):
        return None
    steps = [Step(kind=kind, target=target) for kind, target in repair]
    if any(_prepares(step, risk, missing, domain) for step in steps):
        return None
    return risk if any(_stands_in(step, risk, domain) for step in steps) else None


class ConflictIndex:
    """Entries by what they could conflict over, so that only those with something in common are compared.

    Entries about one situation are many and mostly of one mind: they lie together with those that do the same
    and end alike, and are compared one by one only with those that do not.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._about: defaultdict[object, dict[_Course, dict[str, Entry]]] = defaultdict(dict)
        self._apart: dict[tuple[_Course, _Course], bool] = {}
        self._names: dict[Action, set[Action]] = {}
        self._done_by_skill: _Table = defaultdict(dict)
        self._replaced: _Table = defaultdict(dict)

    def add(self, entry: Entry) -> None:
        """Makes `entry` one that later ones are compared with."""
        self._about[_situation_key(entry)].setdefault(_course(entry), {})[entry.entry_id] = entry
        if isinstance(entry.content, SkillContent):
            for key in self._step_keys(entry):
                self._done_by_skill[key][entry.entry_id] = entry
            return
        for key in self._replaced_keys(entry.content):
            self._replaced[key][entry.entry_id] = entry

    def against(self, entry: Entry) -> list[Entry]:
        """The entries added so far that contradict `entry`, by id."""
        near: dict[str, Entry] = {}
        course = _course(entry)
        for other, entries in self._about.get(_situation_key(entry), {}).items():
            if self._are_apart(course, other):
                near |= entries
        for key in self._step_keys(entry):
            near |= self._replaced.get(key, {})
        if isinstance(entry.content, RemedyContent):
            for key in self._replaced_keys(entry.content):
                near |= self._done_by_skill.get(key, {})
        return [near[one] for one in sorted(near) if conflict(entry, near[one], self._domain)]

    def _are_apart(self, one: "_Course", other: "_Course") -> bool:
        """Whether entries about one situation contradict each other by their courses, should they meet."""
        if (one, other) not in self._apart:
            self._apart[one, other] = _exclude_each_other(one.end, other.end, self._domain) or (
                one.type == "remedy" and _reordered(one.actions, other.actions)
            )
        return self._apart[one, other]

    def _step_keys(self, entry: Entry) -> set[Action]:
        steps = steps_of(entry.content)
        return set().union(*(self._keys((step.kind, step.target)) for step in steps))

    def _replaced_keys(self, content: RemedyContent) -> set[Action]:
        replaced = replaced_action(content, self._domain)
        return set() if replaced is None else self._keys(replaced)

    def _keys(self, action: Action) -> set[Action]:
        """An action under every name that it could meet its like by: a tag's members, the items it brings."""
        if action not in self._names:
            kind, target = action
            names: frozenset[str] = frozenset()
            if kind is not None and target is not None:
                names = known_names(target, self._domain) | self._domain.accepts(target, kind)
            self._names[action] = {action, *((kind, name) for name in names)}
        return self._names[action]


class _Course(NamedTuple):
    """What an entry does, and what it says of the state that it ends in."""

    type: str
    actions: tuple[tuple[str, str | None], ...]
    end: tuple[Check, ...]


def _course(entry: Entry) -> _Course:
    steps = steps_of(entry.content)
    end = (*entry.verification, *(check for step in steps[-1:] for check in step.checks))
    return _Course(entry.type, tuple((step.kind, step.target) for step in steps), end)


def _situation_key(entry: Entry) -> tuple[object, ...]:
    """Equal for entries of one type about one action and one failure."""
    content = entry.content
    if isinstance(content, SkillContent):
        return (entry.type, action_of(content))
    return (entry.type, action_of(content), content.risk.failure_type, content.risk.missing)


def _replaces_step(remedy: Entry, skill: Entry, domain: Domain) -> bool:
    if not isinstance(remedy.content, RemedyContent) or not isinstance(skill.content, SkillContent):
        return False
    replaced = replaced_action(remedy.content, domain)
    if replaced is None:
        return False
    if not any(_are_same((step.kind, step.target), replaced, domain) for step in skill.content.steps):
        return False
    # The remedy is about one step of the skill, whose own kind and target need not be the skill's.
    # A skill, thought of before an attempt, says nothing of what only the attempt shows.
    hidden = (*OUTCOMES, *_ACTION_FIELDS)
    return _meet(remedy, skill, domain, hidden)


def _replace_each_other(one: Entry, other: Entry, domain: Domain) -> bool:
    if not isinstance(one.content, RemedyContent) or not isinstance(other.content, RemedyContent):
        return False
    first, second = replaced_action(one.content, domain), replaced_action(other.content, domain)
    if first is None or second is None:
        return False
    undone = any(_are_same((step.kind, step.target), second, domain) for step in one.content.repair)
    redone = any(_are_same((step.kind, step.target), first, domain) for step in other.content.repair)
    return undone and redone and _meet(one, other, domain, (*OUTCOMES, *_ACTION_FIELDS))


def _same_aim_other_end(one: Entry, other: Entry, domain: Domain) -> bool:
    """Same action, and for remedies same failure, but final states that exclude each other."""
    ends = _course(one).end, _course(other).end
    return _exclude_each_other(*ends, domain) and _same_situation(one, other, domain)


def _exclude_each_other(one: Iterable[Check], other: Iterable[Check], domain: Domain) -> bool:
    """Whether no state passes the checks of both ends."""
    ends = [_as_predicates(one), _as_predicates(other)]
    # An end that excludes itself is no conflict with the other.
    if any(contradictions(end, domain) for end in ends):
        return False
    return bool(contradictions([*ends[0], *ends[1]], domain))


def _other_order(one: Entry, other: Entry, domain: Domain) -> bool:
    reordered = _reordered(_course(one).actions, _course(other).actions)
    return reordered and _same_situation(one, other, domain)


def _reordered(first: tuple[Action, ...], second: tuple[Action, ...]) -> bool:
    """Whether the same actions stand in different orders."""
    return first != second and Counter(first) == Counter(second)


def _same_situation(one: Entry, other: Entry, domain: Domain) -> bool:
    if _situation_key(one) != _situation_key(other):
        return False
    return _meet(one, other, domain, ())


def _meet(one: Entry, other: Entry, domain: Domain, hidden: tuple[str, ...]) -> bool:
    """Whether the conditions of both can hold in one state, the `hidden` fields left aside."""
    first = [predicate for predicate in conditions_of(one) if predicate.field not in hidden]
    second = [predicate for predicate in conditions_of(other) if predicate.field not in hidden]
    return overlap(first, second, domain)


def _are_same(one: Action, other: Action, domain: Domain) -> bool:
    return same_action(one, other, domain) or same_action(other, one, domain)


def _prepares(step: Step, risk: Action, missing: tuple[str, ...], domain: Domain) -> bool:
    """Whether a step could make the risky action succeed: it brings, or stands for, something it needs."""
    target = risk[1] or ""
    wanted = {each for name in missing for each in (name, *known_names(name, domain))}
    for name in sorted(known_names(target, domain) | domain.accepts(target, risk[0] or "")):
        wanted |= domain.prerequisites(name)
    if risk[0] == "mine":
        wanted = wanted.union(*(domain.fit_tools(block) for block in sorted(blocks_for(target, domain))))
    if risk[0] == "smelt":
        wanted |= {domain.smelting_station, *domain.fuels}
    things = yields_of(step, domain) | known_names(step.target or "", domain)
    return bool(things & wanted)


def _stands_in(step: Step, risk: Action, domain: Domain) -> bool:
    if step.target is None:
        return False
    result = domain.accepts(risk[1] or "", risk[0] or "")
    return step.kind == risk[0] or bool(yields_of(step, domain) & result)


def _as_predicates(checks: Iterable[Check]) -> list[Predicate]:
    """What checks say of the state that passes them."""
    return [predicate for check in checks if (predicate := _as_predicate(check)) is not None]


def _as_predicate(check: Check) -> Predicate | None:
    match check.type:
        case "inv_ge" if check.value is not None:
            return Predicate(field=f"inventory.{check.name}", op="ge", value=check.value)
        case "inv_lt" if check.value is not None:
            return Predicate(field=f"inventory.{check.name}", op="lt", value=check.value)
        case "ypos_ge" if check.value is not None:
            return Predicate(field="ypos", op="ge", value=check.value)
        case "ypos_le" if check.value is not None:
            return Predicate(field="ypos", op="le", value=check.value)
        case "station_near":
            return Predicate(field=f"near.{check.name}", op="eq", value=True)
        case "gui_closed":
            return Predicate(field="gui", op="eq", value="none")
        case "alive":
            return Predicate(field="alive", op="eq", value=True)
    return None
