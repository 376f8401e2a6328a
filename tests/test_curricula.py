"""Curricula: what the shipped ones play, the order of tasks, and what is said of a mistake."""

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.curricula import (
    SHIPPED,
    Curriculum,
    CurriculumFileError,
    PlannedBuild,
    UnknownCurriculumError,
    chosen,
    curriculum_files,
    dealt,
    find_curriculum,
    load_curriculum,
)
from warehouse.domains import Domain, load_domain
from warehouse.suites import find_suite
from warehouse.tasks import Task

SUITE = find_suite("tech_tree", load_domain("minecraft"))
LOWER = ("wooden", "stone", "iron", "gold", "redstone")
GOOD = """
doc = "Wooden tasks."
[[builds]]
play = [{ groups = ["wooden"], episodes = 8 }]
[evaluate]
groups = ["wooden"]
"""


def builds(curriculum: Curriculum) -> list[PlannedBuild]:
    found = [curriculum.build(number) for number in range(1, curriculum.written + 1)]
    return [build for build in found if build is not None]


def by_group(build: PlannedBuild) -> dict[str, int]:
    played: Counter[str] = Counter()
    for task, episodes in build.episodes.items():
        played[task.rpartition("_")[0]] += episodes
    return dict(played)


@pytest.mark.parametrize("name", ["cold_start", "diamond_only", "pretrain_freeze", "mixed"])
def test_the_four_ways_to_build_a_store_have_five_checkpoints_of_the_same_total(
    name: str, minecraft: Domain
) -> None:
    found = find_curriculum(name, None, minecraft)
    assert [sum(build.episodes.values()) for build in builds(found)] == [40] * 5
    assert found.build(6) is None
    assert found.row.evaluate.groups == ("diamond",)


def test_what_each_of_them_plays_and_learns_from(minecraft: Domain) -> None:
    cold, own, pretrained, mixed = (
        builds(find_curriculum(name, None, minecraft))
        for name in ("cold_start", "diamond_only", "pretrain_freeze", "mixed")
    )
    assert [build.update_store for build in cold] == [False] * 5
    assert all(build.update_store for build in (*own, *pretrained, *mixed))
    assert [by_group(build) for build in (*cold, *own)] == [{"diamond": 40}] * 10
    assert [build.groups for build in pretrained] == [(group,) for group in LOWER]
    for build in mixed:
        assert by_group(build)["diamond"] == 20
        assert set(by_group(build)) == {*LOWER, "diamond"}


def test_accumulation_has_its_checkpoints_at_the_papers_counts(minecraft: Domain) -> None:
    made = builds(find_curriculum("accumulation", None, minecraft))
    totals = [
        sum(sum(build.episodes.values()) for build in made[: number + 1]) for number in range(len(made))
    ]
    assert totals == [50, 100, 200, 400]
    assert all(build.update_store for build in made)


def test_the_nightly_curriculum_plays_every_task_every_night_without_an_end(minecraft: Domain) -> None:
    found = find_curriculum("nightly", None, minecraft)
    assert found.last is None
    for number in (1, 2, 100):
        build = found.build(number)
        assert build is not None
        assert build.episodes == dict.fromkeys((task.id for task in SUITE.tasks), 1)


@given(
    st.sets(st.sampled_from(SUITE.groups), min_size=1),
    st.integers(0, 2**40),
    st.integers(0, 200),
    st.integers(0, 150),
)
def test_tasks_come_in_their_turn_and_groups_in_their_share(
    groups: set[str], seed: int, skipped: int, count: int
) -> None:
    tasks = chosen(SUITE, sorted(groups), ())
    order: list[Task] = list(islice(dealt(tasks, seed), skipped + count))
    assert order == list(islice(dealt(tasks, seed), skipped + count))
    counts = Counter(task.id for task in order)
    assert max(counts.values(), default=0) - min((counts[task.id] for task in tasks), default=0) <= 1
    sizes = Counter(task.group for task in tasks)
    within = len(order) % len(tasks)
    stretch = Counter(task.group for task in order[len(order) - within :])
    for group, size in sizes.items():
        assert abs(stretch[group] - within * size / len(tasks)) < 1 + len(sizes) * size / len(tasks)


def test_another_seed_is_another_order() -> None:
    orders = [[task.id for task in islice(dealt(SUITE.tasks, seed), 70)] for seed in (0, 1)]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])


def test_builds_that_are_alike_go_on_in_the_order_of_tasks(tmp_path: Path, minecraft: Domain) -> None:
    path = tmp_path / "long.toml"
    path.write_text(GOOD.replace("[[builds]]", "[[builds]]\nrepeat = 4"), encoding="utf-8")
    found = load_curriculum(path, minecraft)
    played: Counter[str] = Counter()
    for build in builds(found):
        played.update(build.episodes)
    wooden = [task.id for task in SUITE.tasks if task.group == "wooden"]
    assert sum(played.values()) == 32
    assert {played[task] for task in wooden} == {2, 3}


def test_a_file_of_ones_own_is_found_and_takes_the_place_of_a_shipped_one(
    tmp_path: Path, minecraft: Domain
) -> None:
    for name in ("mine", "mixed"):
        (tmp_path / f"{name}.toml").write_text(GOOD, encoding="utf-8")
    assert curriculum_files(tmp_path)["mixed"].parent == tmp_path
    assert curriculum_files(tmp_path)["cold_start"].parent == SHIPPED
    assert find_curriculum("mine", tmp_path, minecraft).row.doc == "Wooden tasks."
    assert find_curriculum(str(tmp_path / "mine.toml"), None, minecraft).name == "mine"
    with pytest.raises(
        UnknownCurriculumError, match="no curriculum your; there are: accumulation, cold_start"
    ):
        find_curriculum("your", tmp_path, minecraft)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('groups = ["wooden"], ep', 'groups = ["woden"], ep', "play[1].groups: 'woden' is none of wooden,"),
        ("episodes = 8", "episodes = 0", "builds[1].play[1].episodes: input should be greater than 0, not 0"),
        ("episodes = 8", 'episodes = "8"', "builds[1].play[1].episodes: input should be a valid integer"),
        ("episodes = 8", "episode = 8", "builds[1].play[1].episodes: is missing (episodes in each build)"),
        (
            "[[builds]]",
            "[[builds]]\nrepeats = 2",
            "builds[1].repeats: no such key; there are: repeat, update_store",
        ),
        ("[[builds]]", "[[builds]]\nupdate_store = 1", "builds[1].update_store: 1 is none of true, false"),
        ("doc", 'after_last = "go on"\ndoc', "after_last: 'go on' is none of stop, repeat"),
        ("doc", 'agent = "lazy"\ndoc', "agent: "),
        ("doc", 'suite = "tech_bush"\ndoc', "suite: no suite tech_bush"),
        ("doc =", "dok =", "doc: is missing"),
        ('[evaluate]\ngroups = ["wooden"]', "", "evaluate: is missing (what every checkpoint is asked)"),
        (
            "[evaluate]\n",
            '[evaluate]\ntasks = ["iron_00"]\n',
            "evaluate.tasks: 'iron_00' is none of wooden_00,",
        ),
        ("[[builds]]", "[[builds", "(at line 3"),
    ],
)
def test_a_mistake_is_told_with_file_key_and_what_is_allowed(
    right: str, wrong: str, said: str, tmp_path: Path, minecraft: Domain
) -> None:
    path = tmp_path / "mine.toml"
    assert right in GOOD
    path.write_text(GOOD.replace(right, wrong, 1), encoding="utf-8")
    with pytest.raises(CurriculumFileError) as error:
        load_curriculum(path, minecraft)
    assert str(error.value).startswith(f"{path}: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
