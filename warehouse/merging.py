"""Entries that say the same of different states become one.

Two active entries merge when they are about the same situation, tell the same steps under the same conditions
and are verified alike, and when the union of their triggers is itself a trigger: the merged entry applies
exactly where one of the two did, never in a state that no evidence stands behind. Where the union of two
triggers is one of them, that entry absorbs the other, since an entry's id is its content.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from warehouse.domains.model import Domain
from warehouse.entries import Entry, in_order
from warehouse.ids import canonical_bytes
from warehouse.knowledge import Amount, Predicate, RemedyContent, SkillContent, entry_id
from warehouse.regions import Regions, joined, regions_of

_LONGEST_TRIGGER: Final = 16
Acceptable = Callable[[tuple[Predicate, ...]], bool]


class Merge(NamedTuple):
    """Entries that become one: its trigger and content, and the ids of those it is made of, sorted."""

    trigger: tuple[Predicate, ...]
    content: SkillContent | RemedyContent
    sources: tuple[str, ...]


def merges(entries: Iterable[Entry], domain: Domain, acceptable: Acceptable) -> list[Merge]:
    """The merges to make among `entries`, ordered by sources; independent of the entries' order.

    `acceptable` tells whether a trigger may stand in the store by itself.
    """
    groups: defaultdict[bytes, list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[same_but_trigger(entry)].append(entry)
    made = [
        merge
        for _, group in sorted(groups.items())
        for merge in _merges_within(group, domain, acceptable)
        if len(merge.sources) > 1
    ]
    return sorted(made, key=lambda merge: merge.sources)


def merged_id(merge: Merge, entries: Mapping[str, Entry]) -> str:
    """The id of the entry that `merge` makes; one of its sources' own where that one absorbs the others."""
    first = entries[merge.sources[0]]
    return entry_id(first.domain, first.type, merge.trigger, merge.content)


def combined(target: str, merge: Merge, sources: list[Entry]) -> Entry:
    """The entry that `merge` makes, of the id `target`, with the evidence of all its sources; its weight is
    worked out later."""
    own = next((source for source in sources if source.entry_id == target), None)
    others = {source.entry_id for source in sources} - {target}
    builds = sorted(build for each in sources for build in (each.first_build, each.last_build))
    return Entry(
        entry_id=target,
        domain=sources[0].domain,
        type=sources[0].type,
        trigger=merge.trigger,
        content=merge.content,
        verification=sources[0].verification,
        support=in_order({support for source in sources for support in source.support}),
        confidence=0.0,
        merged_from=tuple(sorted(others | set(own.merged_from if own else ()))),
        first_build=builds[0],
        last_build=builds[-1],
        version=own.version if own else 1,
    )


def same_but_trigger(entry: Entry) -> bytes:
    """What two entries must have in common to merge: everything but trigger, note, category and the amounts
    of the effects."""
    content = entry.content.model_dump(mode="json")
    content.pop("category")
    if isinstance(entry.content, SkillContent):
        content["effects"] = [(effect.name, effect.count > 0) for effect in entry.content.effects]
    else:
        content["risk"].pop("note")
    return canonical_bytes([entry.domain, entry.type, content, entry.verification])


def _merges_within(group: list[Entry], domain: Domain, acceptable: Acceptable) -> list[Merge]:
    """Joins pairs, the first that can be joined in the order of ids, until none can."""
    pending = [
        _Pending(Merge(entry.trigger, entry.content, (entry.entry_id,)), regions_of(entry.trigger, domain))
        for entry in sorted(group, key=lambda entry: entry.entry_id)
    ]
    done: list[Merge] = []
    for first, current in enumerate(pending):
        for place in range(first + 1, len(pending)):
            merge = _joined(current, pending[place], domain, acceptable)
            if merge is not None:
                pending[place] = _Pending(merge, regions_of(merge.trigger, domain))
                break
        else:
            done.append(current.merge)
    return done


class _Pending(NamedTuple):
    """A merge that may grow, and what its trigger allows each field."""

    merge: Merge
    regions: Regions


def _joined(first: _Pending, second: _Pending, domain: Domain, acceptable: Acceptable) -> Merge | None:
    one, other = first.merge, second.merge
    trigger = joined(one.trigger, first.regions, other.trigger, second.regions, domain)
    if trigger is None or len(trigger) > _LONGEST_TRIGGER:
        return None
    ordered = tuple(sorted(set(trigger), key=canonical_bytes))
    if not acceptable(ordered):
        return None
    return Merge(ordered, _common(one.content, other.content), tuple(sorted({*one.sources, *other.sources})))


def _common(
    one: SkillContent | RemedyContent, other: SkillContent | RemedyContent
) -> SkillContent | RemedyContent:
    """What both contents say: of two effects the smaller, of two notes the shorter."""
    category = one.category if one.category == other.category else "generic"
    if isinstance(one, SkillContent) and isinstance(other, SkillContent):
        counts = {effect.name: effect.count for effect in other.effects}
        effects = tuple(
            Amount(name=effect.name, count=min(effect.count, counts[effect.name], key=abs))
            for effect in one.effects
        )
        return SkillContent(**{**dict(one), "effects": effects, "category": category})
    if isinstance(one, RemedyContent) and isinstance(other, RemedyContent):
        notes = sorted((one.risk.note, other.risk.note), key=lambda note: (len(note), note))
        risk = one.risk.model_copy(update={"note": notes[0]})
        return RemedyContent(**{**dict(one), "risk": risk, "category": category})
    raise TypeError("a skill and a remedy cannot be merged")
