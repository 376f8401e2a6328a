"""SKILL.md files: names and descriptions within the layout's bounds, and recorded text stays in its place."""

import re

import yaml
from hypothesis import given
from hypothesis import strategies as st

from prompts.skill_files import skill_description, skill_file, skill_files, skill_name
from tests.case_templates import cases
from tests.good_cases import Case, planks_skill, station_remedy
from warehouse.entries import Entry, Support
from warehouse.knowledge import RemedyContent, SkillContent

NAME = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")

HEADINGS = ("When", "Needs", "Only if", "Do", "Gives", "Check", "Evidence")


def entry_of(case: Case) -> Entry:
    one = case.candidate
    return Entry(
        entry_id=one.entry_id,
        domain=one.domain,
        type=one.type,
        trigger=one.trigger,
        content=one.content,
        verification=one.verification,
        support=tuple(
            Support(feedback_id=cited, episode_id=case.facts[cited].episode_id) for cited in one.support
        ),
        confidence=0.75,
        first_build="b1",
        last_build="b1",
    )


def front(text: str) -> dict[str, object]:
    head, _, rest = text.removeprefix("---\n").partition("\n---\n")
    assert rest.startswith("\n# ")
    read: dict[str, object] = yaml.safe_load(head)
    return read


@given(cases())
def test_the_front_matter_is_what_the_layout_asks_for(case: Case) -> None:
    entry = entry_of(case)
    head = front(skill_file(entry, "5" * 20))

    assert head["name"] == skill_name(entry)
    assert NAME.fullmatch(str(head["name"]))
    assert head["description"] == skill_description(entry)
    assert 0 < len(str(head["description"])) <= 1024
    assert isinstance(head["metadata"], dict)
    assert all(isinstance(value, str) for value in head["metadata"].values())
    assert head["metadata"]["entry"] == entry.entry_id


@given(st.text(min_size=1, max_size=300), st.text(max_size=240))
def test_names_that_a_model_made_up_stay_in_their_place(target: str, note: str) -> None:
    skill, remedy = (entry_of(case) for case in (planks_skill("oak"), station_remedy("oak", "axe")))
    assert isinstance(skill.content, SkillContent)
    assert isinstance(remedy.content, RemedyContent)
    risk = remedy.content.risk.model_copy(update={"target": target, "note": note})
    for entry in (
        skill.model_copy(update={"content": skill.content.model_copy(update={"target": target})}),
        remedy.model_copy(update={"content": remedy.content.model_copy(update={"risk": risk})}),
    ):
        text = skill_file(entry, "5" * 20)
        assert NAME.fullmatch(skill_name(entry))
        assert front(text)["description"] == skill_description(entry)
        headings = [line for line in text.splitlines() if line.startswith("#")]
        assert set(headings[1:]) <= {
            "## When",
            "## Needs",
            "## Only if",
            "## Do",
            "## Gives",
            "## Check",
            "## Evidence",
        }


def test_a_skill_says_when_what_and_how_to_check_it() -> None:
    entry = entry_of(planks_skill("oak"))
    text = skill_file(entry, "5" * 20)

    assert isinstance(entry.content, SkillContent)
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings[0] == "When"
    assert headings[-1] == "Evidence"
    assert {"Do", "Check"} <= set(headings)
    assert f"1. craft {entry.content.steps[0].target}" in text
    assert "\n\n\n" not in text
    assert all(one.feedback_id in text for one in entry.support[:12])


def test_a_remedy_says_what_went_wrong() -> None:
    text = skill_file(entry_of(station_remedy("oak", "pickaxe")), "5" * 20)

    assert "# MISSING_STATION at craft " in text
    assert "What was missing: crafting_table." in text
    assert "## Do\n\n1. " in text


@given(st.lists(cases(), max_size=4))
def test_every_entry_has_a_folder_of_its_name_and_the_order_is_fixed(some: list[Case]) -> None:
    # The same lesson may be drawn from two woods: a snapshot has it once.
    entries = list({entry.entry_id: entry for entry in map(entry_of, some)}.values())

    files = skill_files(entries, "5" * 20)

    assert len(files) == len(entries)
    assert list(files) == sorted(files)
    assert files == skill_files(reversed(entries), "5" * 20)
    for path, text in files.items():
        assert path == f"{front(text)['name']}/SKILL.md"


def test_a_long_name_is_cut_between_words() -> None:
    skill = entry_of(planks_skill("oak"))
    assert isinstance(skill.content, SkillContent)
    long = skill.model_copy(
        update={"content": skill.content.model_copy(update={"target": "a" * 53 + "_b_c"})}
    )

    assert len(skill_name(long)) <= 64
    assert skill_name(long).endswith(f"-{skill.entry_id[:8]}")
