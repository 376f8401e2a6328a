"""The stand-in as planner and adaptor: A STAND-IN FOR A LANGUAGE MODEL with flawed prior knowledge.

It reads the goal's words, plans backwards from what they ask for (prompts/engines/chain.py), and writes the
first twelve steps. It sees its beliefs and the request's situation, and nothing of the world's rules around
them. As adaptor it plans on from the state as it is; where no remedy speaks of what failed, or those that do
were tried in vain, it tries the same again after walking about, and then by another route, as somebody would
who does not know what was wrong.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from prompts.engines.beliefs import Beliefs, Heights, Timeouts
from prompts.engines.chain import Chain
from prompts.engines.errands import NoWayError
from prompts.engines.goals import Reading, read_goal
from prompts.engines.guidance import OBTAINING, Guidance, Insertion, product_of
from prompts.engines.tried import Action, Tried, speaks_of
from prompts.plan_responses import LABEL_LENGTH, MAX_SUBGOALS
from prompts.planning import Goal, PlanSituation, RepairSituation
from warehouse.domains import Domain
from warehouse.entries import Entry
from warehouse.grammar import known_names, step_faults, steps_of
from warehouse.knowledge import Check, RemedyContent, Step

_STAYS: Final = frozenset({"craft", "smelt", "wait"})
_STAY: Final = Step(kind="wait", target=None, checks=(Check(type="alive"),))
_LOOK_AROUND: Final = Step(kind="move", target=None, checks=(Check(type="path_clear"),))


class Planned(NamedTuple):
    """A step, the labels of the knowledge that it was planned with, and its condition where that says more
    than the step."""

    step: Step
    labels: tuple[str, ...] = ()
    words: str | None = None


_ANOTHER_ROUTE: Final = Planned(_LOOK_AROUND, words="move on by another route")


def plan_for(situation: PlanSituation, beliefs: Beliefs, timeouts: Timeouts) -> dict[str, Any]:
    """The answer to a planner's request, as JSON data."""
    tried = Tried(situation.recent, beliefs.facts)
    skills, remedies = (_sayable(each, situation, beliefs) for each in (situation.skills, situation.remedies))
    guidance = Guidance(beliefs, skills, remedies, tried)
    draft = _Draft(situation, beliefs, guidance, timeouts, _standing(situation, tried, guidance))
    return {
        "plan_id": "p_1",
        "subgoals": [draft.subgoal(each, f"sg_{at:03d}") for at, each in enumerate(draft.steps(), 1)],
        "global_constraints": [],
    }


def repair_for_plan(situation: RepairSituation, beliefs: Beliefs, timeouts: Timeouts) -> dict[str, Any]:
    """The answer to an adaptor's request, as JSON data."""
    tried = Tried(situation.recent, beliefs.facts)
    remedies = _sayable((*situation.temporary, *situation.remedies), situation, beliefs)
    skills = _sayable(situation.skills, situation, beliefs)
    draft, steps = _mended(situation, beliefs, timeouts, tried, skills, remedies)
    ids = {entry.entry_id[:LABEL_LENGTH] for entry in remedies}
    suffix: list[dict[str, Any]] = []
    for at, planned in enumerate(steps, 1):
        subgoal = draft.subgoal(planned, f"r{situation.repair}_{at:03d}")
        source = next((label for label in subgoal["knowledge"] if label in ids), None)
        suffix.append({**subgoal, "repair_source": source})
    used = dict.fromkeys(label for each in suffix for label in each["knowledge"] if label in ids)
    return {
        "plan_id": f"p_{situation.repair + 1}",
        "kept_prefix": list(situation.kept_ids),
        "repaired_suffix": suffix,
        "active_remedies_used": list(used),
    }


def _mended(
    situation: RepairSituation,
    beliefs: Beliefs,
    timeouts: Timeouts,
    tried: Tried,
    skills: tuple[Entry, ...],
    remedies: tuple[Entry, ...],
) -> tuple["_Draft", list[Planned]]:
    """The draft of a repair and its steps. Where its plan begins with what has failed in this very state, the
    knowledge that leads there is left out: the entry without which it begins otherwise, those that it is
    planned with first and then the least sure; all of it where no single one makes the difference."""

    def drafted(left_out: Collection[Entry]) -> tuple[_Draft, list[Planned], list[Planned]]:
        kept, known = (tuple(each for each in all_ if each not in left_out) for all_ in (skills, remedies))
        guidance = Guidance(beliefs, kept, known, tried)
        draft = _Draft(situation, beliefs, guidance, timeouts, _standing(situation, tried, guidance))
        return draft, _getting_on(tried, known, guidance), draft.steps()

    def is_futile(planned: Planned) -> bool:
        return (planned.step.kind, planned.step.target) in tried.futile

    chosen = first = drafted(())
    if is_futile(first[2][0]):
        every, blamed = (*skills, *remedies), first[2][0].labels
        doubted = sorted(
            every, key=lambda each: (each.entry_id[:LABEL_LENGTH] not in blamed, each.confidence)
        )
        others = (drafted(left_out) for left_out in (*((entry,) for entry in doubted), every))
        chosen = next((other for other in others if not is_futile(other[2][0])), first)
    draft, before, steps = chosen
    return draft, [*before, *steps][:MAX_SUBGOALS]


class _Draft:
    """A plan in the making, for one situation."""

    def __init__(
        self,
        situation: PlanSituation,
        beliefs: Beliefs,
        guidance: Guidance,
        timeouts: Timeouts,
        standing: frozenset[str],
    ) -> None:
        self._situation = situation
        self._beliefs = beliefs
        self._guidance = guidance
        self._timeouts = timeouts
        state = situation.state
        near = _members(state, "near") & guidance.facts.stations
        self._chain = Chain(guidance, _held(state), near, standing)

    def steps(self) -> list[Planned]:
        """The first steps to the goal, at least one and at most `MAX_SUBGOALS`."""
        self._reach(self._situation.goal)
        planned = [Planned(step, self._chain.labels_of(step)) for step in self._chain.steps]
        planned = self._with_heights(self._with_insertions(planned))
        return planned[:MAX_SUBGOALS] or [Planned(_STAY)]

    def subgoal(self, planned: Planned, subgoal_id: str) -> dict[str, Any]:
        """A step as the plan schema has it."""
        step, labels, condition = planned
        facts = self._guidance.facts
        failures = sum(
            row.y is False and (row.kind, row.target) == (step.kind, step.target)
            for row in self._situation.recent
        )
        efforts = facts.block_effort if step.kind == "mine" else facts.entity_effort
        far = [efforts[name] for name in known_names(step.target or "", facts) if name in efforts]
        checks = step.checks or (_shows(step, facts),)
        return {
            "subgoal_id": subgoal_id,
            "condition": condition or _in_words(step),
            "task_kind": step.kind,
            "target": step.target,
            "count": step.count,
            "executor_hint": self._situation.executors[0],
            "mode": "stay" if step.kind in _STAYS else "move",
            "timeout_s": self._timeouts.of(
                step.kind, step.count, min(far, default=0.0) if step.kind in OBTAINING else 0.0, failures
            ),
            "checks": [{"type": each.type, "name": each.name, "value": each.value} for each in checks],
            "rationale": "as was learnt" if labels else "as far as I know",
            "knowledge": list(labels),
        }

    def _reach(self, goal: Goal) -> None:
        reading = read_goal(goal, self._guidance.facts)
        if reading.kind == "use" and reading.object is not None:
            self._use(goal, reading.object, reading.place)
            return
        wanted = list(goal.any_of) or [name for name in (self._item_of(reading),) if name]
        if wanted and not goal.any_of and wanted[0] in self._guidance.facts.entities:
            # A creature that leaves nothing is fought for its own sake, and no inventory tells of it.
            fight = Step(kind="combat", target=wanted[0], count=goal.count, checks=(Check(type="alive"),))
            self._chain.append(fight)
            return
        for name in wanted:
            try:
                self._chain.obtain(name, goal.count)
            except NoWayError:
                continue
            return
        if wanted:
            self._chain.try_directly(wanted[0])

    def _item_of(self, reading: Reading) -> str | None:
        if reading.kind is None or reading.object is None:
            return None
        return product_of(Step(kind=reading.kind, target=reading.object), self._guidance.facts)

    def _use(self, goal: Goal, target: str, place: str | None) -> None:
        """Something that is done with a thing, where the words say: the thing in hand, and there."""
        facts = self._guidance.facts
        if facts.expand(target):
            try:
                self._chain.have(target)
            except NoWayError:
                self._chain.try_directly(target)
        for offer in facts.trades.get(target, ())[:1]:
            for item, number in offer.price:
                try:
                    self._chain.acquire(item, number * goal.count)
                except NoWayError:
                    self._chain.try_directly(item)
        if place in facts.stations:
            self._chain.append(
                Step(kind="move", target=place, checks=(Check(type="station_near", name=place),))
            )
        elif place is not None:
            self._chain.append(Step(kind="move", target=place, checks=(Check(type="path_clear"),)))
        shown = goal.any_of[0] if goal.any_of else target
        checks: tuple[Check, ...] = (Check(type="alive"),)
        if facts.expand(shown):
            checks = (Check(type="inv_ge", name=shown, value=float(goal.count)),)
        self._chain.append(Step(kind="use", target=target, checks=checks))

    def _with_insertions(self, planned: list[Planned]) -> list[Planned]:
        """The steps that remedies put before the actions they are about, unless they are taken anyway."""
        # What an insertion is about may be a step that a later one brings: those are placed at the end.
        waiting = [each for each in self._guidance.insertions if not self._place(each, planned)]
        for insertion in waiting:
            self._place(insertion, planned)
        return planned

    def _place(self, insertion: Insertion, planned: list[Planned]) -> bool:
        """Puts an insertion's steps where they belong; whether there is such a place."""
        at = self._first(insertion.before, planned)
        if at is None:
            return False
        taken = {(each.step.kind, each.step.target) for each in planned[:at] if each.step.kind in OBTAINING}
        new = [
            Planned(step, insertion.labels)
            for step in insertion.steps
            if (step.kind, step.target) not in taken and not self._is_had(step)
        ]
        labels = tuple(dict.fromkeys((*insertion.labels, *planned[at].labels)))
        planned[at : at + 1] = [*new, planned[at]._replace(labels=labels)]
        return True

    def _is_had(self, step: Step) -> bool:
        """Whether all that a step of obtaining brings is held now."""
        if step.kind not in OBTAINING or any(check.name is None for check in step.checks):
            return False
        held, guidance = _held(self._situation.state), self._guidance
        # What its checks count is what it is done for: a creature leaves other things too.
        brought = [check.name for check in step.checks if check.name] or [product_of(step, guidance.facts)]
        return all(
            sum(number for key, number in held.items() if guidance.counts_as(key, name)) >= step.count
            for name in brought
        )

    def _first(self, action: Action, planned: list[Planned]) -> int | None:
        facts = self._guidance.facts
        fits = (
            at
            for at, each in enumerate(planned)
            if speaks_of(action, (each.step.kind, each.step.target), facts)
        )
        return next(fits, None)

    def _with_heights(self, planned: list[Planned]) -> list[Planned]:
        """The way down (or up) to where something is believed to be found, before it is mined."""
        height = self._situation.state.get("ypos")
        y = float(height) if isinstance(height, int | float) else None
        placed: list[Planned] = []
        for each in planned:
            known = self._heights_of(each.step)
            if known is not None and (y is None or y > known.highest):
                y = known.highest
                placed.append(Planned(_climb("ypos_le", y)))
            elif known is not None and y is not None and y < known.lowest:
                y = known.lowest
                placed.append(Planned(_climb("ypos_ge", y)))
            placed.append(each)
        return placed

    def _heights_of(self, step: Step) -> Heights | None:
        if step.kind != "mine":
            return None
        heights = self._beliefs.heights
        known = [
            heights[name] for name in known_names(step.target or "", self._guidance.facts) & heights.keys()
        ]
        return min(known, default=None)


def _sayable(entries: Sequence[Entry], situation: PlanSituation, beliefs: Beliefs) -> tuple[Entry, ...]:
    """The entries that are followed: all of them, until the answer is sent back. Whoever is told that what it
    said is no action leaves out the knowledge that it had it from, which Curator would not have let pass."""
    if situation.fault is None:
        return tuple(entries)
    return tuple(
        entry
        for entry in entries
        if not any(step_faults(step, beliefs.facts) for step in steps_of(entry.content))
    )


def _getting_on(tried: Tried, remedies: Iterable[Entry], guidance: Guidance) -> list[Planned]:
    """What is done first where no knowledge, or none that was not tried in vain, says what to do about the
    action that failed: walking about, and where that has not helped, another route."""
    failing = tried.failing
    if failing is None or tried.failure is None or _is_answered(failing, remedies, guidance):
        return []
    walked = (_LOOK_AROUND.kind, _LOOK_AROUND.target)
    if failing == walked or tried.in_vain([_LOOK_AROUND]):
        return [_ANOTHER_ROUTE]
    return [Planned(_LOOK_AROUND)]


def _is_answered(failing: Action, remedies: Iterable[Entry], guidance: Guidance) -> bool:
    """Whether some knowledge says what to do about the action that failed."""
    if any(speaks_of(insertion.before, failing, guidance.facts) for insertion in guidance.insertions):
        return True
    contents = (entry.content for entry in remedies if isinstance(entry.content, RemedyContent))
    return any(
        speaks_of((content.risk.kind or "", content.risk.target), failing, guidance.facts)
        and content.category in ("missing_prerequisite", "generic")
        for content in contents
    )


def _standing(situation: PlanSituation, tried: Tried, guidance: Guidance) -> frozenset[str]:
    """Stations that can be gone back to: those in view, and those that this episode has put somewhere; not
    one that could not be got back to, unless a remedy that was not tried yet says how."""
    facts = guidance.facts
    placed = set(tried.placed)
    if isinstance(situation, RepairSituation):
        kept = situation.plan[: situation.kept]
        placed |= {
            step.target
            for step in kept
            if step.standing == "done"
            and step.target
            and (step.kind == "use" or (step.kind == "craft" and step.target in facts.built_in_place))
        }
    lost = tried.lost
    if guidance.urgent is not None and tried.failing is not None:
        lost -= {tried.failing[1] or ""}
    return facts.stations & ((placed | _members(situation.state, "seen")) - lost)


def _held(state: Mapping[str, Any]) -> dict[str, int]:
    return {
        field.partition(".")[2]: int(value)
        for field, value in sorted(state.items())
        if field.startswith("inventory.") and not field.endswith(".*") and value
    }


def _members(state: Mapping[str, Any], family: str) -> frozenset[str]:
    return frozenset(
        field.partition(".")[2]
        for field, value in state.items()
        if field.startswith(f"{family}.") and value is True
    )


def _climb(check: str, y: float) -> Step:
    return Step(kind="move", target=None, checks=(Check(type=check, value=y),))


def _shows(step: Step, facts: Domain) -> Check:
    """A check for a step that came without one: what the state after it can best tell of it."""
    target = step.target or ""
    if step.kind == "craft" and target in facts.built_in_place:
        return Check(type="station_near", name=target)
    if step.kind in OBTAINING:
        return Check(type="inv_ge", name=product_of(step, facts), value=float(step.count))
    if step.kind in ("use", "move") and target in facts.stations:
        return Check(type="station_near", name=target)
    if step.kind == "use" and facts.expand(target):
        return Check(type="inv_ge", name=target, value=1.0)
    return Check(type="path_clear" if step.kind == "move" else "alive")


def _in_words(step: Step) -> str:
    if step.target is not None:
        return (
            f"{step.kind} {step.count} {step.target}"
            if step.kind in OBTAINING
            else f"{step.kind} {step.target}"
        )
    wanted = step.checks[0] if step.checks else None
    if wanted is not None and wanted.value is not None:
        way = "down" if wanted.type == "ypos_le" else "up"
        return f"{step.kind} {way} to y {wanted.value:.0f}"
    return f"{step.kind} until {wanted.type}" if wanted is not None else step.kind
