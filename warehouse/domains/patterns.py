"""The small pattern language of the data files: names, globs, tags and exclusions."""

from collections.abc import Collection, Iterable, Mapping
from fnmatch import translate
from re import compile as compile_pattern


def matching(
    patterns: Iterable[str], names: Collection[str], tags: Mapping[str, Collection[str]]
) -> list[str]:
    """The names that `patterns` select, sorted.

    A pattern is a name, a glob (`*_log`), a tag (`#logs`), or one of these behind a `!`, which takes away
    what the patterns before it selected. Raises `ValueError` for a pattern that selects no name, since that
    is a slip of the pen.

    >>> matching(["*_log", "!oak_log"], ["birch_log", "oak_log", "stick"], {})
    ['birch_log']
    """
    found: set[str] = set()
    for pattern in patterns:
        bare = pattern.removeprefix("!")
        hits = _selected(bare, names, tags)
        if not hits:
            raise ValueError(f"{bare!r} names nothing that this domain knows")
        if pattern == bare:
            found |= hits
        else:
            found -= hits
    return sorted(found)


def _selected(pattern: str, names: Collection[str], tags: Mapping[str, Collection[str]]) -> set[str]:
    if pattern.startswith("#"):
        return {name for name in tags.get(pattern[1:], ()) if name in names}
    if "*" in pattern:
        matches = compile_pattern(translate(pattern)).match
        return {name for name in names if matches(name)}
    return {pattern} if pattern in names else set()


def rewritten(pattern: str, result: str, name: str) -> str:
    """`result` with its `*` replaced by what the one `*` of `pattern` stands for in `name`.

    >>> rewritten("*_leaves", "*_sapling", "oak_leaves")
    'oak_sapling'
    """
    before, _, after = pattern.partition("*")
    return result.replace("*", name[len(before) : len(name) - len(after)])
