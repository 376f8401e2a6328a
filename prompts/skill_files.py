"""Entries as SKILL.md files, the open layout that coding agents read: a folder each, named as the skill is.

    <name>/SKILL.md      YAML front matter (name, description, metadata), then when, needs, do, gives, check

A name has lower-case letters, digits and single hyphens, at most 64 of them; a description at most 1,024
characters. The wording is that of the planner's prompts (templates/skill_file_v1.j2), and recorded text goes
through the same filters.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from prompts.rendering import plain, render
from warehouse.entries import Entry
from warehouse.knowledge import RemedyContent

NAME_LIMIT: Final = 64
DESCRIPTION_LIMIT: Final = 1024
_ID: Final = 8


def skill_files(entries: Iterable[Entry], snapshot_id: str) -> dict[str, str]:
    """Path below the folder -> text, a file per entry, in the order of the paths."""
    files = {f"{skill_name(entry)}/SKILL.md": skill_file(entry, snapshot_id) for entry in entries}
    return {path: files[path] for path in sorted(files)}


def skill_name(entry: Entry) -> str:
    """What an entry is called: its action and the first digits of its id, which tell it from others."""
    content = entry.content
    about = content.risk if isinstance(content, RemedyContent) else content
    words = [entry.type if entry.type == "remedy" else "", about.kind or "", about.target or ""]
    # Whatever is no letter or digit parts words; a name that a model made up may be of any length.
    said = "-".join(re.findall(r"[a-z0-9]+", " ".join(words).lower()))
    return f"{said[: NAME_LIMIT - _ID - 1].strip('-') or entry.type}-{entry.entry_id[:_ID]}"


def skill_description(entry: Entry) -> str:
    """What it does and when to use it, in one sentence each."""
    content = entry.content
    if isinstance(content, RemedyContent):
        action = _action(content.risk.kind or "any", content.risk.target)
        want = f" for want of {', '.join(map(plain, content.risk.missing))}" if content.risk.missing else ""
        said = f"Repairs {action} when it fails with {plain(content.risk.failure_type)}{want} in"
    else:
        said = f"How to {_action(content.kind, content.target)} in"
    when = " and ".join(sorted({plain(predicate.field) for predicate in entry.trigger}))
    return f"{said} {plain(entry.domain)}. Use it when its conditions on {when} hold."[:DESCRIPTION_LIMIT]


def skill_file(entry: Entry, snapshot_id: str) -> str:
    """One entry as the text of a SKILL.md."""
    metadata: dict[str, Any] = {
        "entry": entry.entry_id,
        "type": entry.type,
        "domain": entry.domain,
        "snapshot": snapshot_id,
        "confidence": f"{entry.confidence:.3f}",
        "episodes": str(entry.support_episodes),
        "uses": str(entry.uses),
        "wins": str(entry.wins),
    }
    text = render(
        "skill_file_v1",
        name=skill_name(entry),
        description=skill_description(entry),
        metadata=metadata,
        entry=entry,
        content=entry.content,
    )
    # What an entry does not have leaves its blank lines behind; recorded text has none of its own.
    return re.sub(r"\n{3,}", "\n\n", text) + "\n"


def _action(kind: str, target: str | None) -> str:
    return plain(kind) if target is None else f"{plain(kind)} {plain(target)}"
