"""Episodes in the built-in world for try-outs, and what may be learnt of them, right or wrong: a plan asks
for sticks before there are planks."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from rollouts.backends import InProcess, RolloutBackend, stage_kit
from rollouts.monitor import monitor
from rollouts.protocols import EpisodeSpec, Subgoal
from rollouts.recorder import plan_shards, trace_of
from rollouts.rounds import play
from tests.fake_world import chop, crew, spec, subgoal, task
from warehouse.build_evidence import Evidence
from warehouse.domains import Domain
from warehouse.entries import TryOut
from warehouse.facts import facts_from
from warehouse.knowledge import Candidate, Check, Predicate, RemedyContent, Risk, SkillContent, Step

BUILD = "b1"
STICKS = subgoal("craft", "sticks", Check(type="inv_ge", name="stick", value=4.0))
MAKES_STICKS = (
    Step(kind="mine", target="#logs", count=2),
    Step(kind="craft", target="#planks", count=4),
)
HURRIED = replace(chop(1, "hurried", seconds=1.0), target="#logs")
"""a log in less time than it takes to get to one: it takes as much again, and again"""


def in_techtree(seed: int, horizon: int = 3000) -> EpisodeSpec:
    """An episode of the build in a world with an even seed."""
    return replace(spec(seed, horizon), world="techtree", build=BUILD)


def backend(domain: Domain, side_by_side: int = 4) -> InProcess:
    """Worlds in this process."""
    return InProcess(stage_kit(domain, "scripted"), side_by_side)


def evidence_of(
    domain: Domain,
    plan: Sequence[Subgoal],
    seeds: Sequence[int],
    stepping: RolloutBackend | None = None,
) -> Evidence:
    """What is known of a build that played this plan once in each of these worlds."""
    loop = crew(domain, row="no_repair", subgoals=plan, wanted=task(64))
    shards = plan_shards([in_techtree(seed) for seed in seeds])
    ended = [each.record for each in play(shards, stepping or backend(domain), loop)]
    trace = trace_of([replace(record, cast=replace(record.cast, executor="scripted")) for record in ended])
    feedback = monitor(trace, domain)
    return Evidence(BUILD, (), (), (), trace.episodes, trace.attempts, trace.events, feedback)


def remedy(evidence: Evidence, goal: Subgoal, *repair: Step, cited: int | None = None) -> Candidate:
    """A remedy for the failures of a subgoal, drawn from the first `cited` episodes, all if None."""
    failed = failures(evidence, goal)[:cited]
    facts = facts_from(evidence.feedback, evidence.attempts, evidence.events, evidence.episodes)
    first = facts[failed[0]]
    assert first.failure_type is not None
    return Candidate(
        domain="minecraft",
        type="remedy",
        trigger=(
            Predicate(field="kind", op="eq", value=goal.kind),
            Predicate(field="target", op="eq", value=str(goal.target)),
        ),
        content=RemedyContent(
            risk=Risk(kind=goal.kind, target=goal.target, failure_type=first.failure_type), repair=repair
        ),
        support=tuple(failed),
        build=BUILD,
    )


def failures(evidence: Evidence, goal: Subgoal) -> list[str]:
    """The feedback on the failures of a subgoal, by episode."""
    of_goal = evidence.attempts.filter(pl.col("subgoal_id") == goal.subgoal_id, ~pl.col("success"))
    rows = evidence.feedback.join(of_goal.select("episode_id", "attempt"), on=["episode_id", "attempt"])
    return rows.sort("episode_id", "attempt")["feedback_id"].to_list()


def skill(evidence: Evidence, goal: Subgoal, *steps: Step) -> Candidate:
    """A skill drawn from all attempts up to a subgoal's."""
    ends = evidence.attempts.filter(pl.col("subgoal_id") == goal.subgoal_id)
    up_to = dict(ends.select("episode_id", "attempt").iter_rows())
    cited = [
        feedback_id
        for feedback_id, episode_id, attempt in evidence.feedback.select(
            "feedback_id", "episode_id", "attempt"
        ).iter_rows()
        if attempt <= up_to.get(episode_id, -1)
    ]
    return Candidate(
        domain="minecraft",
        type="skill",
        trigger=(Predicate(field="kind", op="eq", value=goal.kind),),
        content=SkillContent(kind=goal.kind, target=goal.target, steps=steps),
        verification=goal.checks,
        support=tuple(sorted(cited)),
        build=BUILD,
    )


def by_pair(rows: Sequence[TryOut]) -> dict[tuple[str, int], dict[str, TryOut]]:
    """(situation, world) -> its arms."""
    found: dict[tuple[str, int], dict[str, TryOut]] = {}
    for row in rows:
        found.setdefault((row.situation, row.world_seed), {})[row.arm] = row
    return found
