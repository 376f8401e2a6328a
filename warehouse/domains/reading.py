"""What a noun phrase in a task text means: from "2 more oak logs" to a name of the domain.

The rules here are English; every name, everyday word and material comes from the domain's data. A phrase is
matched whole before any word of it is dropped, so the longest known name wins, and only words that are known
to change nothing are dropped: "iron chest" is not a chest.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from warehouse.domains.english import inflector

if TYPE_CHECKING:
    from warehouse.domains.model import Domain, Material
    from warehouse.domains.routes import Routes

_NOT_A_WORD = re.compile(r"[^a-z0-9#_]+")
_NAMESPACE = re.compile(r"\b[a-z0-9_]+:(?=[a-z])")
_OPENERS = re.compile(r"\b(?:at least|at most|up to|no more than)\b")
_NAMESPACES = {
    "item": ("items",),
    "block": ("blocks", "items"),
    "entity": ("entities", "items"),
    "station": ("blocks",),
    "thing": ("items", "entities", "blocks"),
    "place": ("blocks", "entities", "items"),
    "obtain": ("items", "blocks", "entities"),
}


class _English(NamedTuple):
    """The word lists of english.toml."""

    leading: frozenset[str]
    numbers: frozenset[str]
    trailing: frozenset[str]
    prepositions: frozenset[str]


@cache
def _english() -> _English:
    path = Path(__file__).with_name("english.toml")
    lists = tomllib.loads(path.read_text(encoding="utf-8"))
    return _English(**{name: frozenset(words) for name, words in lists.items()})


class TargetReader:
    """Reads noun phrases against the names of one domain; answers are remembered."""

    def __init__(self, domain: Domain, routes: Routes) -> None:
        self._domain = domain
        self._routes = routes
        labelled = _unambiguous_labels(domain.labels)
        self._spoken: dict[str, dict[str, str]] = {
            "items": labelled | {_spoken(name): name for name in domain.items},
            "blocks": {spoken: name for spoken, name in labelled.items() if name in domain.blocks}
            | {_spoken(name): name for name in domain.blocks},
            "entities": {_spoken(name): name for name in domain.entities},
            "tags": {_spoken(name): f"#{name}" for name in domain.tags},
        }
        self._answers: dict[tuple[str, str], str | None] = {}

    def read(self, phrase: str, kind: str) -> str | None:
        """The name that `phrase` means for `kind` (or a verb that stands for one); None if it means none."""
        key = (phrase, kind)
        if key not in self._answers:
            self._answers[key] = self._read(phrase, self._domain.kind_aliases.get(kind, kind))
        return self._answers[key]

    def _read(self, phrase: str, kind: str) -> str | None:
        if kind != "obtain" and self._domain.kinds.get(kind, "none") == "none":
            return None
        # In "deposit the rest into the chest" the thing used is behind the preposition; elsewhere what
        # stands there is a tool, a place or a purpose.
        clauses = list(_clauses(_words(phrase)))
        for words in clauses if kind == "use" else clauses[:2]:
            name = self._read_clause(words, kind)
            if name is not None:
                return self._fit(name, kind)
        return None

    def _read_clause(self, words: list[str], kind: str) -> str | None:
        while words:
            for start in range(len(words)):
                found = self._match(words[start:], kind)
                if found is not None:
                    return found
                if not self._is_filler(words[start]):
                    break
            if words[-1] not in _english().trailing:
                return None
            words = words[:-1]
        return None

    def _is_filler(self, word: str) -> bool:
        english = _english()
        counts = word in english.numbers or word[:1].isdigit()
        return counts or word in english.leading or word in self._domain.filler_words

    def _match(self, words: list[str], kind: str) -> str | None:
        """The name that all of `words` spell, allowing for number and for words of material."""
        found = self._match_name(words, kind)
        if found is not None:
            return found
        for material in self._domain.materials:
            for at, word in enumerate(words[:-1]):
                if word not in material.words:
                    continue
                for synonym in material.words:
                    found = self._match_name([*words[:at], synonym, *words[at + 1 :]], kind)
                    if found is not None:
                        return found
                found = self._match([*words[:at], *words[at + 1 :]], kind)
                if found is not None and self._made_of(found, material):
                    return found
        return None

    def _match_name(self, words: list[str], kind: str) -> str | None:
        text = " ".join(words)
        if text.startswith("#"):
            return text if text[1:] in self._domain.tags else None
        target = "obtain" if kind == "obtain" else self._domain.kinds[kind]
        names = [self._domain.phrases.get(kind, {}), self._domain.phrases.get("any", {})]
        names += [self._spoken[space] for space in _NAMESPACES[target]]
        # A name in another number outranks a tag: "oak logs" are oak logs, not all that is cut from oaks.
        for tier in (names, [] if target == "entity" else [self._spoken["tags"]]):
            for spelling in _spellings(text):
                for table in tier:
                    if spelling in table:
                        return table[spelling]
        return None

    def _made_of(self, name: str, material: Material) -> bool:
        domain = self._domain
        members = domain.expand(name)
        return bool(members) and all(
            item in material.items
            or any(
                domain.expand(ingredient) & material.items
                for recipe in domain.recipes.get(item, ())
                for ingredient, _ in recipe.ingredients
            )
            for item in members
        )

    def _fit(self, name: str, kind: str) -> str | None:
        """`name`, or what it stands for where the kind asks for something else; None where it cannot be."""
        domain = self._domain
        if kind == "smelt":
            return self._routes.product_of(name)
        if domain.kinds.get(kind) == "entity" and name not in domain.entities:
            dropped = any(name in drops for drops in domain.entity_drops.values())
            return name if dropped else None
        return name


def _words(phrase: str) -> list[str]:
    text = _OPENERS.sub(" ", phrase.lower().replace("'", "").replace("’", ""))
    words = _NOT_A_WORD.sub(" ", _NAMESPACE.sub("", text)).split()
    spaced = (word if word.startswith("#") else word.replace("_", " ") for word in words)
    return " ".join(spaced).split()


def _clauses(words: list[str]) -> Iterator[list[str]]:
    """The whole, since a name may hold a preposition, then what stands between the prepositions."""
    yield words
    clause: list[str] = []
    for word in [*words, "with"]:
        if word not in _english().prepositions:
            clause.append(word)
        elif clause:
            yield clause
            clause = []


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _unambiguous_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Label -> item, less the labels that several items share."""
    owners: dict[str, list[str]] = {}
    for item, label in labels.items():
        owners.setdefault(" ".join(_words(label)), []).append(item)
    return {label: items[0] for label, items in owners.items() if len(items) == 1}


def _spellings(text: str) -> Iterator[str]:
    """`text`, then `text` with its last word in the other number."""
    # inflect is slow to import and most phrases are names as they stand, so it is asked last.
    yield text
    yield from _inflections(text)


@cache
def _inflections(text: str) -> tuple[str, ...]:
    head, blank, last = text.rpartition(" ")
    singular = inflector().singular_noun(last)
    plural = inflector().plural_noun(last)
    return tuple(f"{head}{blank}{form}" for form in (singular, plural) if form)
