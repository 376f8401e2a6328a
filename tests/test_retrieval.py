"""Retrieval, eq. 7: every part of the relevance changes the order, the index ranks as scoring every entry
would, the knapsack is exact, and the budget holds.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse import retrieval
from warehouse import retrieval_index as parts
from warehouse.domains import load_domain
from warehouse.entries import Entry, Support
from warehouse.kinship import Kinship
from warehouse.knowledge import Amount, Predicate, RemedyContent, Risk, SkillContent, Step, entry_id
from warehouse.retrieval import Context, Index, Place, knapsack, retrieve
from warehouse.state import State, flatten_state, holds

DOMAIN = load_domain("minecraft")
KINSHIP = Kinship(DOMAIN)
ANYWHERE = (Predicate(field="alive", op="eq", value=True),)


def entry(
    content: SkillContent | RemedyContent,
    trigger: tuple[Predicate, ...] = ANYWHERE,
    confidence: float = 0.8,
    status: str = "active",
) -> Entry:
    kind = "skill" if isinstance(content, SkillContent) else "remedy"
    return Entry.model_validate(
        {
            "entry_id": entry_id("minecraft", kind, trigger, content),
            "domain": "minecraft",
            "type": kind,
            "trigger": trigger,
            "content": content,
            "confidence": confidence,
            "status": status,
            "first_build": "b1",
            "last_build": "b1",
        }
    )


def skill(kind: str, target: str | None, trigger: tuple[Predicate, ...] = ANYWHERE, **more: object) -> Entry:
    confidence = more.pop("confidence", 0.8)
    assert isinstance(confidence, float)
    steps = (Step(kind=kind, target=target),)
    content = SkillContent.model_validate({"kind": kind, "target": target, "steps": steps, **more})
    return entry(content, trigger, confidence)


def remedy(
    kind: str | None,
    target: str | None,
    failure: str,
    missing: tuple[str, ...] = (),
    trigger: tuple[Predicate, ...] = ANYWHERE,
    confidence: float = 0.8,
) -> Entry:
    risk = Risk(kind=kind, target=target, failure_type=failure, missing=missing)
    return entry(RemedyContent(risk=risk, repair=(Step(kind="wait"),)), trigger, confidence)


def ranking(
    entries: Sequence[Entry], context: Context, evidence: Mapping[str, Sequence[Place]] | None = None
) -> list[Entry]:
    return [each.entry for each in Index.build(entries, DOMAIN, evidence).rank(context)]


def has(item: str, op: str, count: int) -> Predicate:
    return Predicate.model_validate({"field": f"inventory.{item}", "op": op, "value": count})


def holding(**counts: int) -> State:
    inventory = [{"name": name, "count": count} for name, count in sorted(counts.items())]
    return flatten_state({"inventory": inventory, "alive": True})


# --- each part changes the order ---------------------------------------------------------------------------


def test_the_subgoals_target_changes_the_order() -> None:
    torch, bread = skill("craft", "torch"), skill("craft", "bread")
    goal = "cake"
    assert ranking([torch, bread], Context(goal_target=goal, kind="craft", target="torch"))[0] == torch
    assert ranking([torch, bread], Context(goal_target=goal, kind="craft", target="bread"))[0] == bread


def test_the_subgoals_kind_changes_the_order() -> None:
    mined, used = skill("mine", "iron_ore"), skill("use", "iron_ore")
    assert ranking([mined, used], Context(kind="mine", target="iron_ore"))[0] == mined
    assert ranking([mined, used], Context(kind="use", target="iron_ore"))[0] == used


def test_the_goal_changes_the_order() -> None:
    pick, bread = skill("craft", "iron_pickaxe"), skill("craft", "bread")
    assert ranking([pick, bread], Context(goal_target="iron_pickaxe")) == [pick]
    assert ranking([pick, bread], Context(goal_target="bread")) == [bread]


def test_the_goal_is_read_from_its_text_where_no_target_is_given() -> None:
    pick, bread = skill("craft", "iron_pickaxe"), skill("craft", "bread")
    assert ranking([pick, bread], Context(goal="Craft an iron pickaxe")) == [pick]
    assert ranking([pick, bread], Context(goal="bake some bread")) == []


def test_prerequisites_of_the_goal_count_by_their_distance() -> None:
    near, far, farther = (
        skill("smelt", "iron_ingot"),
        skill("mine", "stone"),
        skill("craft", "wooden_pickaxe"),
    )
    stranger = skill("craft", "white_bed")
    assert ranking([stranger, farther, far, near], Context(goal_target="iron_pickaxe")) == [
        near,
        far,
        farther,
    ]


def test_what_an_entry_yields_or_names_as_missing_counts_as_its_subject() -> None:
    yields = skill("mine", "stone", effects=(Amount(name="cobblestone", count=1),))
    lacks = remedy("craft", "shield", "MISSING_STATION", missing=("crafting_table",))
    context = Context(kind="craft", target="crafting_table", goal_target="cobblestone")
    assert set(ranking([yields, lacks], context)) == {yields, lacks}


def test_recent_failures_change_the_order_and_the_last_counts_most() -> None:
    stuck = remedy("mine", "oak_log", "NAV_STUCK")
    absent = remedy("mine", "oak_log", "TARGET_NOT_FOUND")
    both = [stuck, absent]
    asked = Context(kind="mine", target="oak_log")
    assert ranking(both, replace(asked, failures=("NAV_STUCK",)))[0] == stuck
    assert ranking(both, replace(asked, failures=("TARGET_NOT_FOUND",)))[0] == absent
    assert ranking(both, replace(asked, failures=("NAV_STUCK", "TARGET_NOT_FOUND")))[0] == absent
    assert ranking(both, replace(asked, failures=("TARGET_NOT_FOUND", "NAV_STUCK", "NONE")))[0] == stuck


def test_a_remedy_for_the_same_failure_is_found_whatever_it_was_about() -> None:
    other = remedy("mine", "diamond_ore", "NAV_STUCK")
    assert ranking([other], Context(kind="mine", target="oak_log", failures=("NAV_STUCK",))) == [other]
    assert ranking([other], Context(kind="mine", target="oak_log", failures=("TIMEOUT",))) == []


def test_inventory_predicates_change_the_order() -> None:
    bare = skill("craft", "torch", (has("coal", "lt", 1),))
    stocked = skill("craft", "torch", (has("coal", "ge", 1),))
    asked = Context(kind="craft", target="torch")
    assert ranking([bare, stocked], replace(asked, state=holding(coal=2)))[0] == stocked
    assert ranking([bare, stocked], replace(asked, state=holding(stick=2)))[0] == bare


def test_other_trigger_predicates_change_the_order() -> None:
    deep = skill("mine", "iron_ore", (Predicate(field="ypos", op="lt", value=40),))
    high = skill("mine", "iron_ore", (Predicate(field="ypos", op="ge", value=40),))
    asked = Context(kind="mine", target="iron_ore")
    assert ranking([deep, high], replace(asked, state={"ypos": 12.0}))[0] == deep
    assert ranking([deep, high], replace(asked, state={"ypos": 70.0}))[0] == high


def test_a_violated_predicate_weighs_more_than_an_unknown_field_and_that_less_than_a_match() -> None:
    index = Index.build([skill("craft", "torch", (has("coal", "ge", 1),))], DOMAIN)

    def relevance(state: State) -> float:
        return index.rank(Context(kind="craft", target="torch", state=state))[0].relevance

    violated, unknown, met = relevance(holding()), relevance({}), relevance(holding(coal=1))
    assert 0 < violated < unknown / 2 < met / 2


def test_an_attempt_that_differs_is_not_a_violated_trigger() -> None:
    trigger = (Predicate(field="target", op="eq", value="shield"),)
    about_shield = skill("craft", "iron_ingot", trigger)
    index = Index.build([about_shield], DOMAIN)
    context = Context(kind="smelt", target="iron_ingot")
    without = Index.build([skill("craft", "iron_ingot", (has("coal", "ge", 1),))], DOMAIN)
    assert index.rank(context)[0].relevance == without.rank(context)[0].relevance


def test_depth_band_biome_and_distance_to_the_evidence_change_the_order() -> None:
    one = skill("mine", "iron_ore", (has("stick", "ge", 0),))
    two = skill("mine", "iron_ore", (has("stick", "ge", 1),))
    asked = Context(kind="mine", target="iron_ore")

    def first(of_one: Place, of_two: Place, here: Place) -> Entry:
        evidence = {one.entry_id: [of_one], two.entry_id: [of_two]}
        return ranking([one, two], replace(asked, place=here), evidence)[0]

    deep, high = Place(depth_band="deep"), Place(depth_band="surface")
    assert first(deep, high, Place(position=(0.0, 12.0, 0.0))) == first(deep, high, deep) == one
    assert first(deep, high, high) == two
    plains, desert = Place(biome="plains"), Place(biome="desert")
    assert first(plains, desert, plains) == one
    assert first(plains, desert, desert) == two
    here, there = (Place(position=(x, 64.0, 0.0), world="flat 7") for x in (0.0, 200.0))
    assert first(here, there, here) == one
    assert first(here, there, there) == two


@pytest.mark.parametrize(
    ("near", "far"),
    [
        (Place((8.0, 12.0, 8.0)), Place((8.0, 64.0, 8.0))),
        (Place((8.0, 40.0, 8.0), world="w/2"), Place((400.0, 40.0, 8.0), world="w/2")),
        (Place((8.0, 40.0, 8.0), world="w/2"), Place((8.0, 40.0, 8.0), world="w/4")),
        (Place(biome="forest"), Place(biome="plains")),
    ],
    ids=["depth band", "distance", "world", "biome"],
)
def test_the_place_of_an_entrys_own_support_changes_the_order(near: Place, far: Place) -> None:
    one = skill("mine", "iron_ore", (has("stick", "ge", 0),))
    two = skill("mine", "iron_ore", (has("stick", "ge", 1),))

    def learnt_at(known: Entry, place: Place) -> Entry:
        support = Support(feedback_id="f" * 20, episode_id="e" * 20, place=place)
        return known.model_copy(update={"support": (support,)})

    here = Place((7.0, 10.0, 7.0), biome="forest", world="w/2")
    asked = Context(kind="mine", target="iron_ore", place=here)
    for nearer, farther in ((one, two), (two, one)):
        ranked = ranking([learnt_at(nearer, near), learnt_at(farther, far)], asked)
        assert [each.entry_id for each in ranked] == [nearer.entry_id, farther.entry_id]


def test_distance_means_nothing_between_worlds() -> None:
    known = skill("mine", "iron_ore")
    evidence = {known.entry_id: [Place(position=(0.0, 64.0, 0.0), world="flat 7")]}
    index = Index.build([known], DOMAIN, evidence)

    def relevance(world: str | None) -> float:
        place = Place(position=(0.0, 64.0, 0.0), world=world)
        return index.rank(Context(goal_target="iron_ore", place=place))[0].relevance

    assert relevance("flat 8") == relevance(None) < relevance("flat 7")


def test_confidence_changes_the_order_and_does_not_stand_in_for_a_subject() -> None:
    sure = skill("craft", "torch", (has("coal", "ge", 1),), confidence=0.9)
    doubtful = skill("craft", "torch", (has("coal", "ge", 2),), confidence=0.3)
    stranger = skill("craft", "white_bed", confidence=1.0)
    context = Context(kind="craft", target="torch")
    assert ranking([doubtful, stranger, sure], context) == [sure, doubtful]


def test_ties_are_broken_by_id_whatever_the_order_of_the_store() -> None:
    alike = [skill("craft", "torch", (has("coal", "ge", count),)) for count in range(1, 30)]
    context = Context(kind="craft", target="torch")
    by_id = sorted(alike, key=lambda each: each.entry_id)[:16]
    assert ranking(alike, context) == ranking(alike[::-1], context) == by_id


# --- the index against scoring every entry -----------------------------------------------------------------


def by_definition(each: Entry, context: Context, places: Sequence[Place], goal: str | None) -> float:
    """r(c, k) worked out for one entry, feature by feature."""
    subject = parts.subject_of(each.content)
    kind, failure = parts.kind_and_failure(each.content)

    def kin(of: str | None) -> float:
        nearness = KINSHIP.nearness(of) if of is not None else {}
        direct = nearness.get(subject.target, 0.0) if subject.target is not None else 0.0
        return max([direct, *(parts.INDIRECT * nearness.get(other, 0.0) for other in subject.others)])

    to_target = kin(context.target)
    if subject == (None, ()) and (context.kind, context.target) != (None, None):
        to_target = 1.0 if context.target is None else parts.ANY_TARGET
    recent = list(dict.fromkeys(failure for failure in reversed(context.failures) if failure != "NONE"))
    recency = parts.RECENCY ** recent.index(failure) if failure in recent else 0.0
    likeness = 1.0 if None in (kind, context.kind) or kind == context.kind else parts.OTHER_KIND
    about = likeness * (parts.SUBGOAL * to_target + parts.FAILURE * recency) + parts.GOAL * kin(goal)

    here = parts.located(context.place, DOMAIN)
    state = parts.state_of(context, here)
    weights = parts.conditions_of(each)
    met = unmet = 0.0
    for predicate, weight in weights.items():
        answer = holds(predicate, state, DOMAIN)
        met += weight * (answer is True)
        unmet += weight * (answer is False and predicate.field not in parts.OF_ATTEMPT)
    met, unmet = met / sum(weights.values()), unmet / sum(weights.values())
    trigger = parts.UNKNOWN_TRIGGER + (1.0 - parts.UNKNOWN_TRIGGER) * met - parts.UNMET_SHARE * unmet
    trigger = trigger * parts.UNMET if unmet else trigger

    near = 0.0
    for place in (parts.located(place, DOMAIN) for place in places):
        likely = parts.DEPTH_BAND * (place.depth_band is not None and place.depth_band == here.depth_band)
        likely += parts.BIOME * (place.biome is not None and place.biome == here.biome)
        if place.world is not None and place.world == here.world and place.position and here.position:
            x, y, z = (a - b for a, b in zip(place.position, here.position, strict=True))
            likely += parts.NEARBY / (1.0 + math.sqrt(x * x + y * y + z * z) / parts.NEARBY_BLOCKS)
        near = max(near, likely)
    nearness = (1.0 - parts.PLACE) + parts.PLACE * near
    trust = (1.0 - parts.TRUST) + parts.TRUST * each.confidence
    return about * trigger * nearness * (trust * retrieval.DEMOTED if each.status == "demoted" else trust)


THINGS = ("iron_pickaxe", "iron_ingot", "iron_ore", "furnace", "stick", "oak_planks", "#logs", "cow", "bread")
things = st.sampled_from(THINGS)
maybe_things = st.none() | things
kinds = st.sampled_from(("mine", "craft", "smelt", "combat"))
failures = st.sampled_from(("NAV_STUCK", "MISSING_STATION", "TIMEOUT", "NONE"))
unit = st.sampled_from((0.0, 0.25, 0.5, 0.9, 1.0))
items = st.sampled_from(("stick", "oak_log", "iron_ingot"))
predicates = st.one_of(
    st.builds(
        Predicate,
        field=items.map("inventory.{}".format)
        | st.sampled_from(("inventory.#logs", "health", "gui", "alive")),
        op=st.sampled_from(("eq", "ne", "lt", "le", "gt", "ge")),
        value=st.integers(0, 3) | st.sampled_from((1.0, 1.5, True, "none", "furnace")),
    ),
    st.builds(
        Predicate, field=st.just("near.furnace"), op=st.sampled_from(("eq", "ne")), value=st.booleans()
    ),
    st.builds(Predicate, field=st.just("missing"), op=st.sampled_from(("eq", "ne")), value=things),
    st.builds(
        Predicate,
        field=st.sampled_from(("gui", "target", "inventory.stick", "missing", "depth")),
        op=st.just("in"),
        value=st.lists(st.sampled_from(("furnace", "stick", "deep", 1, True)), min_size=1, max_size=2).map(
            tuple
        ),
    ),
    st.builds(Predicate, field=st.just("kind"), op=st.just("eq"), value=kinds),
    st.builds(Predicate, field=st.just("failure_type"), op=st.just("eq"), value=failures),
)
predicate_lists = st.lists(predicates, max_size=3).map(tuple)
triggers = st.lists(predicates, min_size=1, max_size=3).map(tuple)
effects = st.lists(st.builds(Amount, name=things, count=st.integers(-1, 1)), max_size=2).map(tuple)
skills = st.builds(
    SkillContent,
    kind=kinds,
    target=maybe_things,
    preconditions=predicate_lists,
    applicability=predicate_lists,
    effects=effects,
    steps=st.just((Step(kind="wait"),)),
)
risks = st.builds(
    Risk,
    kind=st.none() | kinds,
    target=maybe_things,
    failure_type=failures,
    missing=st.lists(things, max_size=2).map(tuple),
)
remedies = st.builds(RemedyContent, risk=risks, repair=st.just((Step(kind="wait"),)))
entries = st.builds(entry, skills | remedies, triggers, unit, st.sampled_from(("active", "demoted")))
stores = st.lists(entries, max_size=40, unique_by=lambda each: each.entry_id)
places = st.builds(
    Place,
    position=st.none() | st.tuples(*[st.sampled_from((-3.0, 12.0, 64.5))] * 3),
    depth_band=st.none() | st.sampled_from(("deep", "surface")),
    biome=st.none() | st.sampled_from(("plains", "desert")),
    world=st.none() | st.sampled_from(("flat 1", "flat 2")),
)
counts = st.none() | st.lists(
    st.builds(lambda name, count: {"name": name, "count": count}, items, st.integers(0, 3)), max_size=3
)
states = st.builds(
    flatten_state,
    st.fixed_dictionaries(
        {
            "inventory": counts,
            "near": st.none() | st.lists(st.just("furnace"), max_size=1),
            "gui": st.sampled_from((None, "none", "furnace")),
            "health": st.none() | st.integers(0, 20),
            "alive": st.none() | st.booleans(),
        }
    ),
    missing=st.none() | st.lists(things, max_size=2),
)
contexts = st.builds(
    Context,
    goal=st.sampled_from(("", "craft an iron pickaxe", "mine iron ore", "sing")),
    goal_target=maybe_things,
    kind=st.none() | kinds,
    target=maybe_things,
    state=states | st.just({}),
    failures=st.lists(failures, max_size=3).map(tuple),
    place=places,
)
GOAL_OF_TEXT = {"craft an iron pickaxe": "iron_pickaxe", "mine iron ore": "iron_ore"}


@settings(max_examples=150, deadline=None)
@given(
    store=stores,
    context=contexts,
    where=st.lists(st.lists(places, max_size=2), min_size=40),
    k=st.integers(0, 20),
)
def test_the_index_ranks_as_scoring_every_entry_would(
    store: list[Entry], context: Context, where: list[list[Place]], k: int
) -> None:
    evidence = {each.entry_id: spots for each, spots in zip(store, where, strict=False)}
    goal = context.goal_target or GOAL_OF_TEXT.get(context.goal)
    scored = [(by_definition(each, context, evidence[each.entry_id], goal), each) for each in store]
    expected = sorted(
        ((r, each) for r, each in scored if r > 0), key=lambda pair: (-pair[0], pair[1].entry_id)
    )
    # Small blocks and waves, so that a small store has several of each.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrieval, "BLOCK_ROWS", 2)
        patch.setattr(retrieval, "FIRST_BLOCKS", 1)
        patch.setattr(retrieval, "WAVE_GROWTH", 2)
        found = Index.build(store, DOMAIN, evidence).rank(context, k)
    assert [(each.relevance, each.entry) for each in found] == expected[:k]
    assert all(0 < each.relevance <= 1 for each in found)


def test_most_of_a_large_store_is_never_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    triggers = [(has("stick", "ge", count),) for count in range(1, 11)]
    store = [skill("craft", item, trigger) for item in sorted(DOMAIN.recipes)[:300] for trigger in triggers]
    index = Index.build(store, DOMAIN)
    looked_at = 0
    met = parts.Conditions.met

    def counted(self: parts.Conditions, rows: parts.Ints, reading: parts.Reading) -> parts.Floats:
        nonlocal looked_at
        looked_at += len(rows)
        return met(self, rows, reading)

    monkeypatch.setattr(parts.Conditions, "met", counted)
    target = sorted(DOMAIN.recipes)[7]
    assert len(index.rank(Context(goal_target=target, kind="craft", target=target))) >= 10
    assert looked_at < len(store) / 10


@pytest.mark.parametrize("status", ["merged", "retired"])
def test_merged_and_retired_entries_are_not_found(status: str) -> None:
    content = SkillContent(kind="craft", target="torch", steps=(Step(kind="craft", target="torch"),))
    assert ranking([entry(content, status=status)], Context(goal_target="torch")) == []


def test_a_demoted_entry_is_found_after_what_is_active_however_little_that_is_trusted() -> None:
    torch = SkillContent(kind="craft", target="torch", steps=(Step(kind="craft", target="torch"),))
    twice = torch.model_copy(update={"steps": torch.steps * 2})
    demoted, active = entry(torch, confidence=0.99, status="demoted"), entry(twice, confidence=0.01)
    assert ranking([demoted, active], Context(goal_target="torch")) == [active, demoted]


def test_an_index_refuses_an_id_twice_and_another_domains_entries() -> None:
    torch = skill("craft", "torch")
    with pytest.raises(ValueError, match="occurs twice"):
        Index.build([torch, torch], DOMAIN)
    with pytest.raises(ValueError, match="cannot be indexed"):
        Index.build([torch.model_copy(update={"domain": "moon"})], DOMAIN)


# --- the knapsack ------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30)), max_size=10),
    st.integers(-1, 120),
)
def test_the_knapsack_is_as_good_as_trying_every_subset(items: list[tuple[float, int]], budget: int) -> None:
    worth = [round(value * 10**9) for value, _ in items]
    best = 0
    for subset in itertools.chain.from_iterable(
        itertools.combinations(range(len(items)), size) for size in range(len(items) + 1)
    ):
        if sum(items[at][1] for at in subset) <= budget:
            best = max(best, sum(worth[at] for at in subset))
    chosen = knapsack([value for value, _ in items], [cost for _, cost in items], budget)
    assert chosen == sorted(set(chosen))
    assert sum(worth[at] for at in chosen) == best
    assert sum(items[at][1] for at in chosen) <= max(budget, 0)


def test_the_knapsack_prefers_two_good_entries_to_one_better_one() -> None:
    assert knapsack([0.6, 0.5, 0.4], [10, 5, 5], 10) == [1, 2]


def test_of_equally_good_sets_the_earlier_item_is_taken() -> None:
    assert knapsack([0.5, 0.5, 0.5], [4, 4, 4], 8) == [0, 1]
    assert knapsack([0.5, 0.25, 0.25], [8, 4, 4], 8) == [0]


def test_the_knapsack_refuses_negative_costs_and_values() -> None:
    with pytest.raises(ValueError, match="negative"):
        knapsack([0.5], [-1], 8)
    with pytest.raises(ValueError, match="negative"):
        knapsack([-0.5], [1], 8)


# --- retrieve ----------------------------------------------------------------------------------------------

TORCHES = [skill("craft", "torch", (has("coal", "ge", count),)) for count in range(1, 21)]
ASKED = Context(kind="craft", target="torch")


def test_nothing_comes_of_an_empty_store_or_no_budget() -> None:
    for index, budget in ((Index.build([], DOMAIN), 512), (Index.build(TORCHES, DOMAIN), 0)):
        found = retrieve(index, ASKED, budget, cost=lambda _: 10, measure=lambda chosen: 7 + 10 * len(chosen))
        assert (found.entries, found.relevance, found.tokens, found.dropped) == ((), (), 0, ())


def test_only_the_16_most_relevant_are_candidates() -> None:
    found = retrieve(Index.build(TORCHES, DOMAIN), ASKED, 10_000, cost=lambda _: 10)
    assert (len(found.entries), found.tokens) == (16, 160)


def test_entries_come_most_relevant_first() -> None:
    sure = skill("craft", "torch", confidence=1.0)
    found = retrieve(Index.build([*TORCHES, sure], DOMAIN), ASKED, 30, cost=lambda _: 10)
    assert found.entries[0] == sure
    assert list(found.relevance) == sorted(found.relevance, reverse=True)


def test_the_entry_of_least_relevance_per_token_goes_while_the_joined_text_is_too_long() -> None:
    sure = skill("craft", "torch", (has("coal", "ge", 1),), confidence=1.0)
    doubtful = skill("craft", "torch", (has("coal", "ge", 2),), confidence=0.1)
    index = Index.build([sure, doubtful], DOMAIN)
    found = retrieve(index, ASKED, 20, cost=lambda _: 10, measure=lambda chosen: 10 * len(chosen) + 1)
    assert (found.entries, found.tokens, found.dropped) == ((sure,), 11, (doubtful,))
    long_but_sure = retrieve(
        index, ASKED, 40, cost=lambda each: 39 if each == sure else 1, measure=lambda chosen: 40 * len(chosen)
    )
    assert long_but_sure.entries == (doubtful,)


@settings(max_examples=100, deadline=None)
@given(store=stores, context=contexts, budget=st.integers(0, 100), joint=st.integers(-2, 9))
def test_the_budget_is_never_exceeded(store: list[Entry], context: Context, budget: int, joint: int) -> None:
    def cost(each: Entry) -> int:
        return int(each.entry_id[:2], 16) % 40

    def measure(chosen: Sequence[Entry]) -> int:
        return sum(map(cost, chosen)) + joint * (len(chosen) - 1)

    found = retrieve(Index.build(store, DOMAIN), context, budget, cost, measure)
    assert found.tokens <= budget
    assert found.tokens == (measure(found.entries) if found.entries else 0)
    assert len(found.entries) == len(found.relevance)
