"""Knowledge that travels between homes: the same bytes, and nothing is believed because a file says so."""

from pathlib import Path
from random import Random

import orjson
import pytest

from tests.good_cases import DOMAIN, Case, log_skill, planks_skill, station_remedy, tool_remedy
from tests.mutators import MUTATORS
from tests.test_fold import curate, make_home, tables
from warehouse import exchange, log
from warehouse.curator import CuratorSettings
from warehouse.curator import curate as curate_all
from warehouse.entries import Entry, Support
from warehouse.exchange import (
    FORMAT,
    ExchangeError,
    exported,
    facts_imported,
    note_import,
)
from warehouse.facts import FeedbackFact
from warehouse.fold import curator, fold_build, rebuild, store_after
from warehouse.snapshots import Snapshot, load_snapshot, publish_snapshot, snapshot_id_of
from warehouse.uncurated import uncurated_store

CASES = (planks_skill("oak"), log_skill("birch"), station_remedy("oak", "pickaxe"), tool_remedy("iron_ore"))
REAL = curator(DOMAIN, CuratorSettings())


def home_with(home: Path, *cases: Case) -> tuple[Path, Snapshot]:
    """A home whose log holds these cases as an import would have left them, folded and published."""
    file = home / "first.jsonl"
    home.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(line(case) for case in cases))
    note_import(home, "b1", file, "minecraft")
    fold_build(home, "b1", REAL)
    return home, load_snapshot(publish_snapshot(home, "b1", store_after(home, "b1")))


def line(case: Case, **changes: object) -> bytes:
    """A case as a line of the file, written by hand so that the format is what it is and not what we read."""
    one = case.candidate
    shown = one.model_dump(mode="json", include={"domain", "type", "trigger", "content", "verification"})
    facts = [case.facts[cited] for cited in one.support]
    figures = {"confidence": 0.9, "support_episodes": 7, "uses": 5, "wins": 5, "version": 1}
    known = {"first_build": "a", "last_build": "a", "merged_from": [], "learnt_with": ["rules-standin/m/1"]}
    record = {
        "format": FORMAT,
        "entry_id": one.entry_id,
        "snapshot_id": "5" * 20,
        **shown,
        **figures,
        **known,
    }
    return orjson.dumps(record | {"evidence": [as_json(fact) for fact in facts]} | changes) + b"\n"


def as_json(fact: FeedbackFact) -> dict[str, object]:
    """A fact, its tuples as lists."""
    shown = {name: getattr(fact, name) for name in fact.__dataclass_fields__}
    shown["steps"] = [vars(step) for step in fact.steps]
    shown["causes"] = [vars(cause) for cause in fact.causes]
    shown["place"] = None if fact.place is None else vars(fact.place)
    read: dict[str, object] = orjson.loads(orjson.dumps(shown, default=_plain))
    return read


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else dict(value)  # type: ignore[call-overload]


def test_what_a_file_bears_out_is_accepted_in_a_home_that_saw_nothing(tmp_path: Path) -> None:
    home, snapshot = home_with(tmp_path, *CASES)

    assert {entry.entry_id for entry in snapshot.entries} == {case.candidate.entry_id for case in CASES}
    one = next(e for e in snapshot.entries if e.entry_id == CASES[0].candidate.entry_id)
    assert (one.uses, one.wins) == (0, 0), "outcomes do not travel"
    assert one.support_episodes == len(
        {CASES[0].facts[cited].episode_id for cited in CASES[0].candidate.support}
    )
    assert one.confidence != 0.9
    assert tables(home, "candidates")["candidates"]["engine"].to_list() == ["rules-standin/m/1"] * len(CASES)


def test_a_file_survives_the_way_there_and_back(tmp_path: Path) -> None:
    first, snapshot = home_with(tmp_path / "a", *CASES)
    file = tmp_path / "knowledge.jsonl"
    file.write_bytes(exported(first, snapshot))

    note_import(tmp_path / "b", "b1", file, "minecraft")
    fold_build(tmp_path / "b", "b1", REAL)
    second = load_snapshot(publish_snapshot(tmp_path / "b", "b1", store_after(tmp_path / "b", "b1")))

    assert second.snapshot_id == snapshot.snapshot_id
    assert exported(tmp_path / "b", second) == file.read_bytes()
    assert file.read_bytes().count(b"\n") == len(CASES)
    assert exported(first, snapshot) == file.read_bytes()


def test_the_same_file_again_changes_nothing_and_a_rebuild_gives_the_same(tmp_path: Path) -> None:
    home, snapshot = home_with(tmp_path, *CASES)
    before = {path: path.read_bytes() for path in (home / "log").rglob("*.parquet")}

    note_import(home, "b1", home / "first.jsonl", "minecraft")
    report = rebuild(home, REAL)

    assert {path: path.read_bytes() for path in (home / "log").rglob("*.parquet")} == before
    assert report.snapshot_ids == {"b1": snapshot.snapshot_id}


def faulty() -> list[tuple[str, str, Case]]:
    """A case for every mutator that can break one of ours and leave the citations as they are."""
    made = [
        (mutator.name, mutator.rule, broken)
        for mutator in MUTATORS
        if mutator.name != "other_domain"
        for case in CASES
        if (broken := mutator.apply(case, Random(1))) is not None
        and set(broken.candidate.support) <= set(broken.facts)
        and not broken.store
    ]
    return list({name: one for one in made for name in one[:1]}.values())


@pytest.mark.parametrize(("name", "rule", "broken"), [pytest.param(*one, id=one[0]) for one in faulty()])
def test_a_file_with_a_fault_is_refused_by_the_rule_that_it_breaks(
    tmp_path: Path, name: str, rule: str, broken: Case
) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_bytes(line(broken))
    note_import(tmp_path, "b1", file, "minecraft")

    candidates = log.candidates_of(log.read(tmp_path, "candidates"))
    curation = curate_all(candidates, facts_imported(log.read(tmp_path, "imports")), {}, (), DOMAIN)

    assert curation.store == {}, name
    assert rule in {reason.rule for reason in curation.decisions[0].reasons}


def test_without_evidence_it_is_unsupported(tmp_path: Path) -> None:
    file = tmp_path / "bare.jsonl"
    file.write_bytes(line(CASES[0], evidence=[]))
    note_import(tmp_path, "b1", file, "minecraft")
    fold_build(tmp_path, "b1", REAL)

    assert store_after(tmp_path, "b1") == ()
    (reasons,) = tables(tmp_path, "decisions")["decisions"]["reasons"].to_list()
    assert [reason["rule"] for reason in reasons] == ["unsupported"]


def test_of_the_same_feedback_a_home_believes_its_own(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    rebuild(home, curate)
    snapshot = load_snapshot(publish_snapshot(home, "b1", store_after(home, "b1")))
    lines = [orjson.loads(each) for each in exported(home, snapshot).splitlines()]
    told = next(each for each in lines if each["type"] == "remedy")
    told["evidence"][0]["failure_type"] = "DEATH"
    file = tmp_path / "lie.jsonl"
    file.write_bytes(orjson.dumps(told))
    seen = {}

    def watch(evidence, store):  # type: ignore[no-untyped-def]
        if evidence.build == "b2":
            seen.update(evidence.imported)
        return curate(evidence, store)

    note_import(home, "b2", file, "minecraft")
    fold_build(home, "b2", watch)

    lied = told["evidence"][0]["feedback_id"]
    assert seen[lied].failure_type == "DEATH"
    assert facts_imported(log.read(home, "imports"))[lied].failure_type == "DEATH"
    # What goes on is what the home itself saw.
    again = [orjson.loads(each) for each in exported(home, snapshot).splitlines()]
    own = next(each for each in again if each["type"] == "remedy")
    assert own["evidence"][0]["failure_type"] == "MISSING_TOOL"


def test_evidence_that_came_along_counts_for_the_uncurated_store_too(tmp_path: Path) -> None:
    home, _ = home_with(tmp_path, *CASES)

    entries = uncurated_store(home, "b1")

    assert {entry.entry_id for entry in entries} == {case.candidate.entry_id for case in CASES}
    with_it = tables(home, "builds")["builds"]["uncurated_snapshot_id"].to_list()
    assert with_it == [snapshot_id_of(entries, curated=False)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "holds no entry"),
        (b"{", "line 1"),
        (line(CASES[0]) + b"\n" + line(CASES[1], format="other"), "line 3: format"),
        (line(CASES[0], domain="chess"), "of the domain chess"),
        (line(CASES[0], entry_id="0" * 20), "its content makes"),
        (line(CASES[0], evidence=[{"feedback_id": "f" * 20}]), "episode_id"),
    ],
)
def test_a_broken_file_is_refused_whole_by_its_line(tmp_path: Path, text: bytes, said: str) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_bytes(text)

    with pytest.raises(ExchangeError, match=said):
        note_import(tmp_path, "b1", file, "minecraft")

    assert not (tmp_path / "log").exists()


def spoilt(part: str, **changes: object) -> bytes:
    """A line, a value of whose `part` is a number that no column holds."""
    content = CASES[0].candidate.content.model_dump(mode="json")
    fact = as_json(next(iter(CASES[0].facts.values())))
    whole: dict[str, object] = {
        "trigger": [{"field": "health", "op": "lt"} | changes],
        "content": content | changes,
        "evidence": [fact | changes],
    }
    return line(CASES[0], **{part: whole[part]}).replace(b'"@"', b"1" + b"0" * 30)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (spoilt("trigger", value="@").replace(b"1" + b"0" * 30, b"NaN"), "line 1: trigger"),
        (spoilt("content", count="@"), "line 1: content"),
        (spoilt("content", count=2**31), "line 1: content"),
        (spoilt("content", effects=[{"name": "stick", "count": 2**40}]), "line 1: content"),
        (spoilt("content", target="x" * 401), "line 1: content"),
        (spoilt("evidence", state_before={"health": "@"}), "line 1: evidence"),
        (b'{"a":' * 5000, "line 1: "),
    ],
    ids=["nan", "count", "too-many", "effect", "text", "evidence", "deep"],
)
def test_what_the_store_has_no_place_for_is_refused_by_its_line(
    tmp_path: Path, text: bytes, said: str
) -> None:
    test_a_broken_file_is_refused_whole_by_its_line(tmp_path, text, said)


def test_lines_and_their_number_have_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    three = b"\n".join(line(case) for case in CASES[:3])
    longest = max(map(len, three.splitlines(keepends=True)))
    monkeypatch.setattr(exchange, "LONGEST_LINE", longest)
    monkeypatch.setattr(exchange, "MOST_ENTRIES", 3)
    (tmp_path / "three.jsonl").write_bytes(three)
    assert len(note_import(tmp_path / "home", "b1", tmp_path / "three.jsonl", "minecraft").candidates) == 3

    (tmp_path / "four").mkdir()
    test_a_broken_file_is_refused_whole_by_its_line(
        tmp_path / "four", three + line(CASES[0]), "line 6: a file has at most 3"
    )
    (tmp_path / "long").mkdir()
    test_a_broken_file_is_refused_whole_by_its_line(
        tmp_path / "long", b" " * longest + line(CASES[0]), f"line 1: is longer than {longest} bytes"
    )


def test_evidence_that_is_gone_is_left_out(tmp_path: Path) -> None:
    entry = Entry(
        entry_id=CASES[0].candidate.entry_id,
        domain="minecraft",
        type="skill",
        trigger=CASES[0].candidate.trigger,
        content=CASES[0].candidate.content,
        support=(Support(feedback_id="0" * 20, episode_id="1" * 20),),
        confidence=0.6,
        first_build="b1",
        last_build="b1",
    )

    (told,) = exported(tmp_path, Snapshot("5" * 20, tmp_path, (entry,))).splitlines()

    assert orjson.loads(told)["evidence"] == []
    assert orjson.loads(told)["support_episodes"] == 1
