"""The Minecraft domain: its facts, its reading of task phrases, and the ways to get a thing."""

import json
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.domains import Domain, Recipe, load_domain
from warehouse.domains.loading import read_folder
from warehouse.domains.minecraft import generate
from warehouse.domains.patterns import matching, rewritten
from warehouse.domains.routes import Routes

MINECRAFT = load_domain("minecraft")
DATA = Path(generate.__file__).parent
BURNING_LOGS = {f"{wood}_log" for wood in ("oak", "spruce", "birch", "jungle", "acacia", "dark_oak")}


def recipes_of(item: str) -> set[tuple[int, tuple[tuple[str, int], ...], bool]]:
    return {(recipe.count, recipe.ingredients, recipe.needs_table) for recipe in MINECRAFT.recipes[item]}


def test_an_unknown_domain_names_the_known_ones() -> None:
    with pytest.raises(FileNotFoundError, match=r"known: .*minecraft"):
        load_domain("atlantis")


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("drops.toml", 'vibranium_ore = ["stick"]'),
        ("drops.toml", 'stone = ["vibranium"]'),
        ("creatures.toml", "unicorn = { effort = 2 }"),
        ("trades.toml", "[[unicorn]]\ntakes = { coal = 1 }\ngives = { stick = 1 }"),
        ("trades.toml", "[[cow]]\ntakes = { vibranium = 1 }\ngives = { stick = 1 }"),
        ("foods.toml", "vibranium = 1"),
        ("smelting.toml", 'vibranium = ["stick"]'),
        ("smelting.toml", 'stick = ["#metals"]'),
    ],
)
def test_a_slip_in_a_table_is_refused_with_its_file(tmp_path: Path, file: str, line: str) -> None:
    folder = tmp_path / "minecraft"
    shutil.copytree(DATA, folder)
    (folder / file).write_text(f"[usual]\n{line}\n" if file == "drops.toml" else line, encoding="utf-8")
    with pytest.raises(ValueError, match=rf"minecraft/{file}: .*(vibranium|unicorn|metals)"):
        read_folder(folder)


@pytest.mark.parametrize("offer", ["takes = {}\ngives = { stick = 1 }", "takes = { coal = 1 }\ngives = {}"])
def test_an_offer_for_nothing_or_of_nothing_is_refused(tmp_path: Path, offer: str) -> None:
    folder = tmp_path / "minecraft"
    shutil.copytree(DATA, folder)
    (folder / "trades.toml").write_text(f"[[cow]]\n{offer}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"minecraft/trades.toml: an offer of cow"):
        read_folder(folder)


def test_loading_pulls_in_nothing_heavy() -> None:
    probe = (
        "import sys; from warehouse.domains import load_domain; load_domain('minecraft');"
        "print([name for name in ('inflect', 'networkx', 'pydantic', 'polars') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_every_name_in_the_tables_is_known() -> None:
    known = MINECRAFT.items | MINECRAFT.blocks
    for recipes in MINECRAFT.recipes.values():
        for recipe in recipes:
            assert recipe.item in MINECRAFT.items
            assert all(MINECRAFT.expand(name) for name, _ in recipe.ingredients), recipe
    assert all(members <= known for members in MINECRAFT.tags.values())
    assert (
        set(MINECRAFT.smelting) | set(MINECRAFT.smelting.values()) | set(MINECRAFT.fuels) <= MINECRAFT.items
    )
    assert set(MINECRAFT.drops) == MINECRAFT.blocks
    assert all(set(items) <= MINECRAFT.items for items in MINECRAFT.drops.values())
    assert set(MINECRAFT.harvest) <= MINECRAFT.blocks
    assert set(MINECRAFT.kind_aliases.values()) <= {*MINECRAFT.kinds, "obtain"}
    assert not set(MINECRAFT.kind_aliases) & set(MINECRAFT.kinds)
    names = MINECRAFT.items | MINECRAFT.blocks | MINECRAFT.entities
    for phrases in MINECRAFT.phrases.values():
        for phrase, name in phrases.items():
            assert name in names or name[1:] in MINECRAFT.tags, phrase
    for material in MINECRAFT.materials:
        assert material.items <= MINECRAFT.items


@pytest.mark.parametrize("stem", ["items", "blocks", "entities", "recipes"])
def test_generated_files_are_sorted_one_row_a_line(stem: str) -> None:
    text = (DATA / f"{stem}.json").read_text(encoding="utf-8")
    rows = json.loads(text)
    assert len(text.splitlines()) == len(rows) + 2
    keys = [row[:2] if stem == "recipes" else row for row in rows]
    assert keys == sorted(keys)


def test_recipes_name_the_tag_where_every_member_does() -> None:
    assert recipes_of("stick") == {(4, (("#planks", 2),), False), (1, (("bamboo", 2),), False)}
    assert recipes_of("crafting_table") == {(1, (("#planks", 4),), False)}
    assert recipes_of("wooden_pickaxe") == {(1, (("#planks", 3), ("stick", 2)), True)}
    assert recipes_of("chest") == {(1, (("#planks", 8),), True)}
    assert recipes_of("torch") == {(4, (("#coals", 1), ("stick", 1)), False)}
    assert recipes_of("oak_planks") == {(4, (("#oak_logs", 1),), False)}
    assert recipes_of("oak_boat") == {(1, (("oak_planks", 5),), True)}


def test_a_merge_needs_every_member_of_the_tag() -> None:
    def boards(wood: str) -> generate.Variant:
        return generate.Variant("shelf", 1, True, frozenset({(wood, 3), ("nail", 1)}))

    tags = [("wood", frozenset({"ash", "elm"}))]
    merged = generate.Variant("shelf", 1, True, frozenset({("#wood", 3), ("nail", 1)}))
    assert generate._merged({boards("ash"), boards("elm")}, tags) == {merged}
    assert generate._merged({boards("ash")}, tags) == {boards("ash")}


@pytest.mark.parametrize(
    ("block", "drops"),
    [
        ("stone", ("cobblestone",)),
        ("coal_ore", ("coal",)),
        ("iron_ore", ("iron_ore", "raw_iron")),
        ("deepslate_iron_ore", ("raw_iron",)),
        ("grass_block", ("dirt",)),
        ("dirt", ("dirt",)),
        ("oak_leaves", ("oak_sapling", "stick", "apple")),
        ("birch_leaves", ("birch_sapling", "stick")),
        ("gravel", ("gravel", "flint")),
        ("redstone_ore", ("redstone",)),
        ("lapis_ore", ("lapis_lazuli",)),
        ("nether_quartz_ore", ("quartz",)),
        ("potted_poppy", ("flower_pot", "poppy")),
        ("oak_wall_sign", ("oak_sign",)),
        ("glass", ()),
        ("water", ()),
    ],
)
def test_drops_are_those_of_the_game(block: str, drops: tuple[str, ...]) -> None:
    assert MINECRAFT.drops[block] == drops


@pytest.mark.parametrize(
    ("block", "need"),
    [
        ("stone", ("pickaxe", "wooden")),
        ("coal_ore", ("pickaxe", "wooden")),
        ("furnace", ("pickaxe", "wooden")),
        ("iron_ore", ("pickaxe", "stone")),
        ("copper_ore", ("pickaxe", "stone")),
        ("gold_ore", ("pickaxe", "iron")),
        ("diamond_ore", ("pickaxe", "iron")),
        ("redstone_ore", ("pickaxe", "iron")),
        ("obsidian", ("pickaxe", "diamond")),
        ("oak_log", None),
        ("dirt", None),
        ("crafting_table", None),
        ("oak_slab", None),
        ("oak_stairs", None),
        ("stone_button", None),
    ],
)
def test_harvest_needs_are_those_of_the_game(block: str, need: tuple[str, str] | None) -> None:
    assert MINECRAFT.harvest.get(block) == need


def test_fit_tools_respect_the_tier() -> None:
    assert "golden_pickaxe" in MINECRAFT.fit_tools("stone")
    assert MINECRAFT.fit_tools("iron_ore") == {
        "stone_pickaxe",
        "iron_pickaxe",
        "diamond_pickaxe",
        "netherite_pickaxe",
    }
    assert MINECRAFT.fit_tools("oak_log") == frozenset()
    assert MINECRAFT.fit_tools("no_such_block") == frozenset()


def test_fuel_and_food_tables() -> None:
    assert MINECRAFT.fuels["coal"] == 8
    assert MINECRAFT.fuels["oak_planks"] == 1.5
    assert MINECRAFT.fuels["stick"] == 0.5
    assert "crimson_planks" not in MINECRAFT.fuels
    assert "iron_ingot" not in MINECRAFT.fuels
    assert MINECRAFT.foods == frozenset(MINECRAFT.food_points)
    assert MINECRAFT.food_points["cooked_beef"] == 8


PHRASES = [
    ("mine", "wood log", "#logs"),
    ("mine", "25 wood logs.", "#logs"),
    ("mine", "a tree to gather wood without tools", "#logs"),
    ("mine", "oak log", "oak_log"),
    ("mine", "2 more oak logs", "oak_log"),
    ("mine", "oak wood logs", "oak_log"),
    ("mine", "Birch logs", "birch_log"),
    ("mine", "minecraft:oak_log", "oak_log"),
    ("mine", "#logs", "#logs"),
    ("mine", "stone blocks", "stone"),
    ("mine", "cobblestone blocks", "cobblestone"),
    ("mine", "eight cobblestone blocks for a furnace", "cobblestone"),
    ("mine", "cobblestone with a wooden pickaxe", "cobblestone"),
    ("mine", "dirt blocks", "dirt"),
    ("mine", "3 blocks of dirt", "dirt"),
    ("mine", "coal ores", "coal_ore"),
    ("mine", "coal", "coal"),
    ("mine", "at least 3 coals", "coal"),
    ("mine", "iron ores", "iron_ore"),
    ("mine", "iron", "iron_ore"),
    ("mine", "three iron ore blocks", "iron_ore"),
    ("mine", "copper ores", "copper_ore"),
    ("mine", "rose bushes", "rose_bush"),
    ("mine", "lilacs", "lilac"),
    ("mine", "lapis lazuli ores", "lapis_ore"),
    ("mine", "wool", "#wool"),
    ("mine", "flowers", "#flowers"),
    ("mine", "leaves", "#leaves"),
    ("mine", "oak leaves", "oak_leaves"),
    ("mine", "sapling from a tree", "#saplings"),
    ("craft", "3 torches", "torch"),
    ("craft", "a wooden chest", "chest"),
    ("craft", "oak chest", "chest"),
    ("craft", "stone furnace", "furnace"),
    ("craft", "iron chest", None),
    ("craft", "stone chest", None),
    ("craft", "vibranium pickaxe", None),
    ("craft", "oak planks and sticks", None),
    ("craft", "crafting table", "crafting_table"),
    ("craft", "workbench", "crafting_table"),
    ("craft", "an oak plank", "oak_planks"),
    ("craft", "wooden planks", "#planks"),
    ("craft", "sticks", "stick"),
    ("craft", "iron axe", "iron_axe"),
    ("craft", "gold sword", "golden_sword"),
    ("craft", "wood pickaxe", "wooden_pickaxe"),
    ("craft", "pickaxe", "#pickaxes"),
    ("craft", "boat", "#boats"),
    ("craft", "block of iron", "iron_block"),
    ("craft", "iron blocks", "iron_block"),
    ("craft", "redstone repeater", "repeater"),
    ("craft", "a turtle shell helmet", "turtle_helmet"),
    ("craft", "carrot on a stick", "carrot_on_a_stick"),
    ("craft", "leather leggings", "leather_leggings"),
    ("craft", "shears", "shears"),
    ("craft", "compass", "compass"),
    ("smelt", "1 raw iron", "iron_ingot"),
    ("smelt", "iron ingot", "iron_ingot"),
    ("smelt", "iron ore into iron ingot", "iron_ingot"),
    ("smelt", "logs", "charcoal"),
    ("smelt", "stone", "stone"),
    ("smelt", "cobblestone", "stone"),
    ("cook", "raw beef", "cooked_beef"),
    ("smelt", "cooked beef", "cooked_beef"),
    ("smelt", "steak", "cooked_beef"),
    ("smelt", "diamond pickaxe", None),
    ("kill", "1 chicken.", "chicken"),
    ("combat", "a cow to obtain leather", "cow"),
    ("combat", "wolves", "wolf"),
    ("combat", "leather", "leather"),
    ("combat", "stick table", None),
    ("use", "a chest", "chest"),
    ("use", "useless items into the chest at (33, 67, -490)", "chest"),
    ("use", "a leather chestplate in a cauldron", "leather_chestplate"),
    ("move", "the nearest crafting table", "crafting_table"),
    ("wait", "oak log", None),
    ("obtain", "2 birch logs", "birch_log"),
    ("no such verb", "stone", None),
    ("mine", "", None),
    ("mine", "the", None),
]


@pytest.mark.parametrize(("kind", "phrase", "target"), PHRASES)
def test_phrases_are_read_as_agents_mean_them(kind: str, phrase: str, target: str | None) -> None:
    reading = MINECRAFT.read_target(phrase, kind)
    assert (reading and reading.target) == target


@pytest.mark.parametrize(
    ("kind", "phrase", "accepts"),
    [
        ("mine", "stone blocks", {"cobblestone", "stone"}),
        ("mine", "coal ores", {"coal", "coal_ore"}),
        ("mine", "iron ores", {"iron_ore", "raw_iron"}),
        ("mine", "copper ores", {"copper_ore", "raw_copper"}),
        ("mine", "grass blocks", {"grass_block", "dirt"}),
        ("mine", "gravel", {"gravel"}),
        ("mine", "wheat", {"wheat"}),
        ("mine", "carrots", {"carrot"}),
        ("smelt", "raw iron", {"iron_ingot"}),
        ("combat", "chicken", {"chicken", "feather"}),
        ("combat", "cows", {"beef", "leather"}),
        ("combat", "bat", set()),
        ("craft", "wooden chest", {"chest"}),
        ("use", "chest", set()),
        ("move", "cow", set()),
        ("obtain", "beef", {"beef"}),
    ],
)
def test_a_reading_accepts_what_shows_success(kind: str, phrase: str, accepts: set[str]) -> None:
    reading = MINECRAFT.read_target(phrase, kind)
    assert reading is not None
    assert reading.accepts == accepts


@given(st.sampled_from(sorted(MINECRAFT.items)), st.sampled_from(["", "a ", "3 ", "two more ", "some "]))
def test_every_item_is_read_by_its_own_name(item: str, before: str) -> None:
    reading = MINECRAFT.read_target(before + item.replace("_", " "), "craft")
    assert reading is not None
    assert reading.target == item
    assert reading.accepts == {item}


@given(st.text(max_size=40), st.sampled_from([*MINECRAFT.kinds, *MINECRAFT.kind_aliases, "fly"]))
def test_any_text_is_read_or_refused(text: str, kind: str) -> None:
    reading = MINECRAFT.read_target(text, kind)
    if reading is not None:
        assert reading == MINECRAFT.read_target(text, kind)
        assert reading.accepts <= MINECRAFT.items


def test_expand() -> None:
    assert MINECRAFT.expand("#saplings") >= {"oak_sapling", "birch_sapling"}
    assert len(MINECRAFT.expand("#planks")) == 8
    assert MINECRAFT.expand("stick") == {"stick"}
    assert MINECRAFT.expand("#nothing") == MINECRAFT.expand("vibranium") == frozenset()


def test_state_fields_know_their_family_members() -> None:
    failure = MINECRAFT.field("failure_type")
    assert failure is not None
    assert failure.values == MINECRAFT.failure_types
    family = MINECRAFT.field("inventory.crafting_table")
    assert family is not None
    assert (family.name, family.kind, family.unit) == ("inventory.*", "number", "items")
    for known in (
        "inventory.#logs",
        "near.furnace",
        "seen.cow",
        "seen.iron_ore",
        "seen.#logs",
        "depth",
        "gui",
    ):
        assert MINECRAFT.field(known), known
    for unknown in (
        "mood",
        "inventory.vibranium",
        "inventory.#metals",
        "near.cow",
        "seen.stick",
        "inventory.*",
        "inventory",
    ):
        assert MINECRAFT.field(unknown) is None, unknown


def test_failure_types_stand_in_the_order_of_the_cascade() -> None:
    order = MINECRAFT.failure_types
    assert order[0] == "INFRASTRUCTURE"
    assert order[-1] == "UNKNOWN"
    assert order.index("MISSING_STATION") < order.index("MISSING_TOOL") < order.index("MISSING_INGREDIENT")


@pytest.mark.parametrize(
    ("verb", "phrase", "kind"),
    [
        ("Kill", "1 cow", "combat"),
        ("place", "a chest", "use"),
        ("chop", "", "mine"),
        ("craft", "", "craft"),
        ("obtain", "2 birch logs", "mine"),
        ("get", "iron ingots", "smelt"),
        ("get", "leather", "combat"),
        ("obtain", "a furnace", "craft"),
        ("obtain", "a unicorn", None),
        ("dance", "", None),
    ],
)
def test_verbs_mean_kinds(verb: str, phrase: str, kind: str | None) -> None:
    assert MINECRAFT.kind_of(verb, phrase) == kind


@pytest.mark.parametrize(
    ("item", "first"),
    [
        ("cobblestone", ("mine", "stone")),
        ("coal", ("mine", "coal_ore")),
        ("iron_ingot", ("smelt", "iron_ingot")),
        ("stick", ("craft", "stick")),
        ("leather", ("combat", "cow")),
        ("crafting_table", ("craft", "crafting_table")),
        ("charcoal", ("smelt", "charcoal")),
    ],
)
def test_the_cheapest_source_comes_first(item: str, first: tuple[str, str]) -> None:
    assert MINECRAFT.sources(item)[0] == first


def test_prerequisites_hold_tools_stations_and_materials() -> None:
    stone_pickaxe = MINECRAFT.prerequisites("stone_pickaxe")
    assert {
        "crafting_table",
        "cobblestone",
        "wooden_pickaxe",
        "stick",
        "oak_planks",
        "oak_log",
    } <= stone_pickaxe
    assert not stone_pickaxe & {"furnace", "iron_ingot", "stone_pickaxe"}
    assert {"furnace", "iron_ore", "iron_ingot", "stone_pickaxe", "diamond"} <= MINECRAFT.prerequisites(
        "diamond_pickaxe"
    )
    assert MINECRAFT.prerequisites("oak_log") == frozenset()
    assert MINECRAFT.prerequisites("#planks") == BURNING_LOGS
    assert MINECRAFT.prerequisites("turtle_helmet") == MINECRAFT.prerequisites("vibranium") == frozenset()


def test_nothing_is_its_own_prerequisite() -> None:
    for item in MINECRAFT.items:
        needs = MINECRAFT.prerequisites(item)
        assert item not in needs
        assert all(MINECRAFT.prerequisites(need) <= needs for need in needs)
        assert all(MINECRAFT.sources(need) for need in needs)


def test_a_changed_recipe_changes_the_ways() -> None:
    costly = (Recipe("stick", 1, (("diamond", 1),), True),)
    odd = replace(MINECRAFT, recipes={**MINECRAFT.recipes, "stick": costly})
    assert odd.sources("stick")[0] != ("craft", "stick")
    assert MINECRAFT.sources("stick")[0] == ("craft", "stick")


def test_a_domain_is_read_only_and_survives_pickling() -> None:
    with pytest.raises(TypeError):
        MINECRAFT.recipes["stick"] = ()  # type: ignore[index]
    copy: Domain = pickle.loads(pickle.dumps(MINECRAFT))
    assert copy.recipes == MINECRAFT.recipes
    assert copy.prerequisites("furnace") == MINECRAFT.prerequisites("furnace")


def test_results_do_not_depend_on_hash_order() -> None:
    probe = (
        "from warehouse.domains import load_domain; d = load_domain('minecraft');"
        "print([d.sources(i) for i in sorted(d.items)], list(d.fuels), list(d.drops), d.tool_classes.keys())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", probe],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize(
    ("y", "band"), [(120, "mountain"), (64, "surface"), (40, "shallow"), (11.5, "lava"), (-200, "below_zero")]
)
def test_depth_bands(y: float, band: str) -> None:
    assert MINECRAFT.depth_band(y) == band


def test_patterns_select_and_take_away() -> None:
    names = ["ash_log", "elm_log", "stick"]
    assert matching(["*_log", "!elm_log"], names, {}) == ["ash_log"]
    assert matching(["#wood", "stick"], names, {"wood": ["elm_log"]}) == ["elm_log", "stick"]
    assert rewritten("*_log", "stripped_*", "ash_log") == "stripped_ash"
    with pytest.raises(ValueError, match="oak_log"):
        matching(["oak_log"], names, {})


def test_the_needed_files_alone_make_a_domain(tmp_path: Path) -> None:
    files = {
        "domain.toml": """
            name = "meadow"
            version = "1"
            stations = { crafting = "bench", smelting = "", all = ["bench"] }
            spawn = { health = 9, hunger = 9 }
            tools = { tiers = ["bone"], classes = ["rake"], name = "{tier}_{tool}" }
        """,
        "grammar.toml": """
            failure_types = ["UNKNOWN"]
            kinds = { mine = "block", craft = "item" }
            verbs = { mine = ["pluck"], obtain = ["get"] }
            checks = { inv_ge = ["item", "n"] }
        """,
        "items.json": '{"daisy": "", "wreath": "crown of flowers"}',
        "blocks.json": '["bench", "daisy"]',
        "entities.json": "[]",
        "recipes.json": '[["wreath", 1, false, {"daisy": 5}]]',
        "wild.toml": 'blocks = { 1 = ["daisy"] }',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    meadow = read_folder(tmp_path)
    reading = meadow.read_target("5 daisies", "pluck")
    assert reading is not None
    assert reading.target == "daisy"
    assert reading.accepts == {"daisy"}
    crown = meadow.read_target("a crown of flowers", "craft")
    assert crown is not None
    assert crown.target == "wreath"
    assert meadow.sources("wreath") == (("craft", "wreath"),)
    assert meadow.field("mood") is None
    assert meadow.depth_band(3) == ""


def test_effort_orders_what_needs_what_and_is_infinite_without_a_source() -> None:
    routes = Routes(MINECRAFT)
    ways = ["oak_log", "wooden_pickaxe", "stone_pickaxe", "iron_ingot", "iron_pickaxe", "diamond"]
    efforts = [routes.effort(item) for item in ways]
    assert efforts == sorted(set(efforts))
    assert routes.effort("#logs") == min(routes.effort(log) for log in MINECRAFT.expand("#logs"))
    assert routes.effort("scute") == float("inf")
    assert routes.effort("vibranium") == float("inf")


def test_nobody_makes_a_tool_to_melt_it(minecraft: Domain) -> None:
    # Who has forgotten that a shovel takes iron would otherwise get iron from shovels made of sticks.
    recipes = {
        **minecraft.recipes,
        "iron_shovel": tuple(
            replace(recipe, ingredients=(("stick", 2),)) for recipe in minecraft.recipes["iron_shovel"]
        ),
    }
    mistaken = replace(minecraft, recipes=recipes)
    for facts in (minecraft, mistaken):
        assert facts.sources("iron_nugget")[0] == ("craft", "iron_nugget")
        assert facts.sources("iron_ingot")[0] == ("smelt", "iron_ingot")
        assert ("smelt", "iron_nugget") in facts.sources("iron_nugget")
