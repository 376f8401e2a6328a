"""Knowledge that travels between data homes: a JSONL file, one entry a line, with its evidence.

    export    snapshot + the facts behind its entries (warehouse/facts.py)  ->  file
    import    file  ->  log: `imports` (the facts) and `candidates` (the entries as proposals)  ->  Curator

An entry is believed nowhere because a file says so. What is imported is proposed, and Curator holds it
against the facts that came with it, by the same rules as any other candidate; where this home has the same
feedback itself, its own word counts. Outcomes of use do not travel: confidence starts from the support alone.

The same snapshot gives the same bytes: entries by id, keys sorted, nothing of when or where.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import orjson
import polars as pl
from pydantic import TypeAdapter, ValidationError

from warehouse import log
from warehouse.entries import Entry
from warehouse.facts import FeedbackFact, facts_from
from warehouse.ids import ID_LENGTH, file_digest
from warehouse.knowledge import (
    Candidate,
    Check,
    KnowledgeType,
    Name,
    Predicate,
    Record,
    RemedyContent,
    SkillContent,
)
from warehouse.snapshots import Snapshot
from warehouse.trace_store import feedback_store, trace_store

FORMAT: Final = "mineevolve-knowledge-1"
LONGEST_LINE: Final = 16 << 20
"""bytes; an entry with the facts of a hundred attempts takes 1 MB"""
MOST_ENTRIES: Final = 100_000
"""lines of one file"""
UNKNOWN_MODEL: Final = "unknown"
_FACTS: Final = TypeAdapter(FeedbackFact)


class ExchangeError(ValueError):
    """A file of knowledge cannot be taken in; the text says which line, and why."""


class Carried(Record):
    """One line of the file. Below `evidence` stands what was known of the entry where it came from; nothing
    of that is taken over."""

    format: Literal["mineevolve-knowledge-1"] = FORMAT
    entry_id: Name
    domain: Name
    type: KnowledgeType
    trigger: tuple[Predicate, ...]
    content: SkillContent | RemedyContent
    verification: tuple[Check, ...] = ()
    learnt_with: tuple[str, ...] = ()
    """the models that proposed it"""
    evidence: tuple[dict[str, Any], ...] = ()
    """facts, by feedback id"""
    snapshot_id: Name
    confidence: float
    support_episodes: int
    uses: int
    wins: int
    version: int
    first_build: str
    last_build: str
    merged_from: tuple[str, ...] = ()


class Import(NamedTuple):
    """What was taken from a file into a build; nothing of it is knowledge before Curator has seen it."""

    build: str
    file_id: str
    candidates: tuple[Candidate, ...]
    feedback: int
    """facts that came along"""


def exported(home: Path, snapshot: Snapshot) -> bytes:
    """The file of a snapshot's entries."""
    facts = facts_of(home, {one.feedback_id for entry in snapshot.entries for one in entry.support})
    models = _models_of(home)
    lines = [_carried(entry, snapshot.snapshot_id, facts, models) for entry in snapshot.entries]
    return b"".join(orjson.dumps(line, option=orjson.OPT_SORT_KEYS) + b"\n" for line in lines)


def note_import(home: Path, build: str, path: Path, domain: str) -> Import:
    """Logs what a file holds, for `build`. The fold does the rest.

    All of the file or nothing: `ExchangeError` names the line that is broken, of another domain, or not what
    its id says. The same file again changes nothing.
    """
    file_id = file_digest(path)[:ID_LENGTH]
    lines = [_taken(line, build, file_id, domain) for line in _lines(path)]
    if not lines:
        raise ExchangeError(f"{path} holds no entry")
    evidence = {feedback_id: row for taken in reversed(lines) for feedback_id, row in taken.evidence.items()}
    rows = [(build, file_id, *evidence[feedback_id]) for feedback_id in sorted(evidence)]
    candidates = tuple(taken.candidate for taken in lines)
    log.append(home, "imports", build, pl.DataFrame(rows, schema=log.KINDS["imports"].schema, orient="row"))
    log.append(home, "candidates", build, log.candidate_rows(candidates))
    return Import(build, file_id, candidates, len(rows))


def facts_imported(rows: pl.DataFrame) -> dict[str, FeedbackFact]:
    """Feedback id -> fact, of rows of the `imports` log."""
    return {
        feedback_id: fact_of(record)
        for feedback_id, record in rows.sort("feedback_id").select("feedback_id", "record").iter_rows()
    }


def facts_of(home: Path, wanted: set[str]) -> dict[str, FeedbackFact]:
    """The facts of that feedback that this home has, or once imported."""
    imports = log.read(home, "imports").filter(pl.col("feedback_id").is_in(sorted(wanted)))
    feedback = feedback_store(home).scan("feedback").filter(pl.col("feedback_id").is_in(sorted(wanted)))
    rows = feedback.collect()
    episodes = rows.select(pl.col("episode_id").unique()).lazy()
    traces = trace_store(home)
    own = facts_from(
        rows,
        *(
            traces.scan(table).join(episodes, on="episode_id", how="semi").collect()
            for table in ("attempts", "events", "episodes")
        ),
    )
    return {**facts_imported(imports), **own}


def fact_as_json(fact: FeedbackFact) -> bytes:
    """A fact as it travels; `fact_of` reads it back."""
    return orjson.dumps(fact, default=_plain, option=orjson.OPT_SORT_KEYS)


def fact_of(record: str | bytes) -> FeedbackFact:
    """The fact that `fact_as_json` wrote; `ValidationError` where it is none."""
    return _FACTS.validate_json(record)


def fault_of(error: ValidationError) -> str:
    """The first thing that is wrong, in one line: where it stands, if that has a name, and what it is."""
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else fault["msg"]


def _carried(
    entry: Entry, snapshot_id: str, facts: Mapping[str, FeedbackFact], models: Mapping[str, set[str]]
) -> dict[str, Any]:
    known = entry.model_dump(
        mode="json",
        include={
            *("entry_id", "domain", "type", "trigger", "content", "verification", "confidence"),
            *("uses", "wins", "version", "first_build", "last_build", "merged_from"),
        },
    )
    cited = sorted({one.feedback_id for one in entry.support} & facts.keys())
    names = {name for one in (entry.entry_id, *entry.merged_from) for name in models.get(one, ())}
    return {
        "format": FORMAT,
        **known,
        "support_episodes": entry.support_episodes,
        "snapshot_id": snapshot_id,
        "learnt_with": sorted(names),
        "evidence": [orjson.loads(fact_as_json(facts[one])) for one in cited],
    }


def _models_of(home: Path) -> dict[str, set[str]]:
    """Entry -> the models that proposed it."""
    models: dict[str, set[str]] = {}
    rows = log.read(home, "candidates").select("entry_id", "engine")
    for one, engine in rows.iter_rows():
        models.setdefault(one, set()).update(name for name in engine.split(", ") if name)
    return models


class _Line(NamedTuple):
    """A line of the file: where it stands, and what stands there."""

    place: str
    text: bytes


class _Taken(NamedTuple):
    """What a line proposes, and its evidence: feedback id -> the last four columns of the `imports` log."""

    candidate: Candidate
    evidence: dict[str, tuple[str, str, str, str]]


def _lines(path: Path) -> Iterator[_Line]:
    """The lines that say something; `ExchangeError` for one that is too long, and for too many."""
    with path.open("rb") as handle:
        number = told = 0
        while text := handle.readline(LONGEST_LINE + 1):
            number += 1
            place = f"{path}, line {number}"
            if len(text) > LONGEST_LINE:
                raise ExchangeError(f"{place}: is longer than {LONGEST_LINE} bytes")
            if not text.strip():
                continue
            told += 1
            if told > MOST_ENTRIES:
                raise ExchangeError(f"{place}: a file has at most {MOST_ENTRIES} entries; cut it in two")
            yield _Line(place, text)


def _taken(line: _Line, build: str, file_id: str, domain: str) -> _Taken:
    """The line, held against its own form and id."""
    try:
        carried = Carried.model_validate_json(line.text)
        facts = _facts_in(carried)
        candidate = _candidate(carried, facts, build, file_id)
        evidence = {
            fact.feedback_id: (
                carried.snapshot_id,
                fact.feedback_id,
                fact.episode_id,
                fact_as_json(fact).decode(),
            )
            for fact in reversed(facts)
        }
    except ValidationError as error:
        raise ExchangeError(f"{line.place}: {fault_of(error)}") from error
    except TypeError as error:  # a number of more than 64 bits has no place in the store
        raise ExchangeError(f"{line.place}: evidence: {error}") from error
    found = candidate.entry_id
    if carried.domain != domain:
        raise ExchangeError(f"{line.place}: is of the domain {carried.domain}, not {domain}")
    if found != carried.entry_id:
        raise ExchangeError(
            f"{line.place}: says that it is entry {carried.entry_id}, and its content makes {found}"
        )
    return _Taken(candidate, evidence)


def _facts_in(carried: Carried) -> list[FeedbackFact]:
    return [_FACTS.validate_python(fact) for fact in carried.evidence]


def _candidate(carried: Carried, facts: Iterable[FeedbackFact], build: str, file_id: str) -> Candidate:
    return Candidate(
        domain=carried.domain,
        type=carried.type,
        trigger=carried.trigger,
        content=carried.content,
        verification=carried.verification,
        support=tuple(sorted({fact.feedback_id for fact in facts})),
        build=build,
        request_id=f"import/{file_id}",
        engine=", ".join(carried.learnt_with) or UNKNOWN_MODEL,
    )


def _plain(value: Any) -> Any:
    """What orjson does not know of itself: named tuples, and mappings that are no dict."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} in a fact")


def episodes_of_imports(rows: pl.DataFrame) -> dict[str, str]:
    """Feedback id -> its episode, of rows of the `imports` log."""
    return dict(rows.select("feedback_id", "episode_id").iter_rows())
