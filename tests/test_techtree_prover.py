"""Proofs in techtree: found, replayed, and honest about what cannot be."""

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rollouts.proofs import NoProverError, Proved, disagreements, proof_rows, prove_in, provers, verdicts
from rollouts.worlds.techtree import Settings, TechTree
from rollouts.worlds.techtree.prover import Proof, checked, prove
from tests.techtree_stage import DOMAIN
from warehouse.tasks import Task


def task(target: str, *, horizon: int = 6000, count: int = 1, event: str = "", claim: str = "") -> Task:
    """A task that asks for so many of an item, and for an event where one is named."""
    return Task(
        id=f"test_{target}",
        group="test",
        kind="craft",
        instruction=f"get {target}",
        horizon_ticks=horizon,
        any_of=(target,),
        count=count,
        verifiable_by="event" if event else claim or "inventory",
        note=f'needs an event "{event}"' if event else claim,
        accepted=DOMAIN.expand(target),
    )


def replayed(proof: Proof) -> tuple[int, dict[str, int], set[str]]:
    """The last tick, what is held and what happened after the actions of a proof: by the world's own replay,
    and by steps of one tick, which have to agree."""
    world = TechTree(DOMAIN, Settings())
    world.reset(proof.seed)
    seen = world.replay(proof.actions)
    single = TechTree(DOMAIN, Settings())
    single.reset(proof.seed)
    happened = set()
    for action, ticks in proof.actions:
        for _ in range(ticks):
            done = single.step(action)
            happened.update(event.name or "" for event in done.events if event.kind == "game")
    assert done.observation.tick == seen.tick
    assert done.observation.inventory == seen.inventory
    return seen.tick, dict(seen.inventory), happened


@pytest.mark.parametrize(
    ("target", "seed"), [("oak_log", 0), ("wooden_pickaxe", 1), ("cobblestone", 2), ("furnace", 0)]
)
def test_what_is_solved_is_solved_by_its_actions_alone(target: str, seed: int) -> None:
    asked = task(target)
    proof = prove(DOMAIN, asked, seed)
    assert proof.solved, proof.reason
    tick, held, _ = replayed(proof)
    assert tick == proof.tick < asked.horizon_ticks
    assert held[target] >= 1


def test_a_deep_ore_is_dug_for_with_the_tool_that_it_takes() -> None:
    proof = prove(DOMAIN, task("gold_ore", horizon=12000), 0)
    assert proof.solved, proof.reason
    _, held, _ = replayed(proof)
    assert held["iron_pickaxe"] >= 1
    assert [what for _, what in proof.steps][-1] == "mine 1 gold_ore"


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**31), target=st.sampled_from(["#logs", "crafting_table", "wooden_sword"]))
def test_a_replay_gives_the_same_success_in_any_world(seed: int, target: str) -> None:
    asked = task(target)
    proof = prove(DOMAIN, asked, seed)
    assert proof.possible
    assert proof.solved == checked(DOMAIN, asked, seed, proof.actions)
    assert not checked(DOMAIN, asked, seed, proof.actions[:-1])


def test_a_proof_ends_before_the_horizon_and_says_at_what() -> None:
    long = prove(DOMAIN, task("wooden_pickaxe"), 0)
    just = prove(DOMAIN, task("wooden_pickaxe", horizon=long.tick + 1), 0)
    short = prove(DOMAIN, task("wooden_pickaxe", horizon=long.tick), 0)
    assert just.solved
    assert just.tick == long.tick
    assert not short.solved
    assert short.reason.startswith("out of time at ")
    assert short.tick < long.tick


def test_what_the_world_has_no_source_of_is_impossible_and_says_what() -> None:
    for target, lacking in (("comparator", "quartz"), ("turtle_helmet", "scute")):
        proof = prove(DOMAIN, task(target), 0)
        assert not proof.solved
        assert not proof.possible
        assert proof.reason == f"{lacking} comes from nothing in this world"
        assert proof.actions == ()


def test_an_event_comes_from_its_interaction_and_not_from_the_thing() -> None:
    trade = TechTree(DOMAIN, Settings())
    trade.reset(0)
    named = trade.play.parameters["trade"]["event"]
    proof = prove(DOMAIN, task("iron_ingot", horizon=24000, event=named), 0)
    assert proof.solved, proof.reason
    assert proof.steps[-1][1].startswith("trade")
    _, held, happened = replayed(proof)
    assert named in happened
    assert held["iron_ingot"] == 1
    assert not any(action.smelt for action, _ in proof.actions)


def test_an_event_that_no_interaction_gives_is_impossible() -> None:
    proof = prove(DOMAIN, task("iron_ingot", event="robbed a villager"), 0)
    assert not proof.possible
    assert "robbed a villager" in proof.reason


def test_a_recipe_of_the_domain_decides_what_is_done() -> None:
    recipe = DOMAIN.recipes["wooden_pickaxe"][0]
    dear = replace(recipe, ingredients=(("#planks", 9), ("stick", 6)))
    other = replace(DOMAIN, recipes={**DOMAIN.recipes, "wooden_pickaxe": (dear,)})
    usual, changed = (prove(domain, task("wooden_pickaxe"), 0) for domain in (DOMAIN, other))
    assert changed.solved, changed.reason
    assert usual.steps[0][1] == "mine 3 oak_log"
    # 9 planks, 4 for two crafts of sticks, 4 for the table: 17 of the 20 that five logs give.
    assert changed.steps[0][1] == "mine 5 oak_log"


def row(name: str, solved: bool, seed: int, claim: str = "inventory", possible: bool = True) -> Proved:
    asked = task(name, claim="" if claim == "inventory" else claim)
    reason = "" if solved else "out of time"
    return Proved(asked, seed, solved, 100 + seed, reason, possible, 3, ((0, "mine 1 oak_log"),))


def test_verdicts_go_by_the_majority_and_by_what_the_suite_claims() -> None:
    proofs = [row("stick", True, 0), row("stick", True, 2), row("stick", False, 1)]
    proofs += [row("torch", True, 0), row("torch", False, 1)]
    proofs += [row("comparator", False, 0, "unreachable", possible=False)]
    proofs += [row("clock", True, 0, "unreachable")]
    table = verdicts(proof_rows(proofs))
    found = dict(table.select("task_id", "verdict").iter_rows())
    assert found == {
        "test_clock": "REACHABLE",
        "test_comparator": "unreachable",
        "test_stick": "solvable",
        "test_torch": "NOT SOLVED",
    }
    assert disagreements(table) == ["test_clock", "test_torch"]
    stick = table.row(by_predicate=pl.col("task_id") == "test_stick", named=True)
    assert (stick["solved"], stick["tried"], stick["ticks"]) == (2, 3, 101)


def test_the_rows_do_not_depend_on_the_order_in_which_proofs_come() -> None:
    proofs = [row("stick", True, 0), row("stick", False, 1), row("torch", True, 0)]
    assert proof_rows(proofs).equals(proof_rows(reversed(proofs)))


def test_a_world_without_a_prover_is_refused() -> None:
    with pytest.raises(NoProverError, match="techtree"), provers("nether", "minecraft", 0):
        pass
    with pytest.raises(NoProverError, match="techtree"):
        prove_in("nether", DOMAIN, task("stick"), 0)
    with pytest.raises(NoProverError, match="crafter"), provers("techtree", "crafter", 0):
        pass


def test_processes_prove_the_same_as_this_one() -> None:
    pairs = [(task("oak_log"), 0), (task("oak_log"), 1)]
    with provers("techtree", "minecraft", 0) as here, provers("techtree", "minecraft", 1) as there:
        assert proof_rows(here(pairs)).equals(proof_rows(there(pairs)))
