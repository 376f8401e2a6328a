"""The low-level policy by itself: the baseline that asks no language model for anything.

It is given the task as its only subgoal, with all of the episode's time. Nobody breaks the task up, nobody
repairs, nothing is retrieved; what comes of it is the executor's own doing.
"""

from rollouts.planner import Plan
from rollouts.protocols import EpisodeSpec, Subgoal
from warehouse.domains import Domain
from warehouse.ids import derive_id
from warehouse.knowledge import Check
from warehouse.records import TICKS_PER_SECOND
from warehouse.tasks import Task


def goal_as_plan(episode_id: str, spec: EpisodeSpec, task: Task, domain: Domain, executor: str) -> Plan:
    """The plan of one subgoal. Its kind is what the task's first word says; its target the task's own where
    that kind of action can bring it, else what the words name (a creature, a station). It counts as done when
    what the task is for is held; where it asks for no item, when the executor says so."""
    verb, _, phrase = task.instruction.partition(" ")
    wanted = task.any_of[0] if task.any_of else None
    kind = domain.kind_of(verb, phrase) or domain.kind_of_obtain(wanted or "") or "use"
    gives = wanted is not None and domain.kinds[kind] != "entity" and bool(domain.accepts(wanted, kind))
    reading = None if gives else domain.read_target(phrase, kind)
    shown = Check(type="alive")
    if wanted is not None:
        shown = Check(type="inv_ge", name=wanted, value=float(task.count))
    subgoal = Subgoal(
        subgoal_id="goal",
        condition=task.instruction,
        kind=kind,
        target=wanted if reading is None else reading.target,
        count=task.count,
        executor_hint=executor,
        timeout_s=spec.horizon / TICKS_PER_SECOND,
        checks=(shown,),
    )
    return Plan(derive_id("plan", [episode_id, "goal alone"]), (subgoal,))
