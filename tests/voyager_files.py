"""Small Voyager folders for tests."""

import json
from pathlib import Path
from typing import Any


def event(
    name: str,
    elapsed: int,
    text: str | None = None,
    inventory: dict[str, int] | None = None,
    **status: Any,
) -> list[Any]:
    """One [event, observation] pair."""
    body: dict[str, Any] = {
        "voxels": status.pop("voxels", ["dirt"]),
        "status": {
            "health": 20,
            "food": 20,
            "position": {"x": 0.5, "y": 64, "z": 0.5},
            "yaw": 0.0,
            "pitch": 0.0,
            "equipment": [None, None, None, None, "dirt", None],
            "entities": {},
            "elapsedTime": elapsed,
        }
        | status,
        "inventory": inventory or {},
    }
    if text is not None:
        body[name] = text
    return [name, body]


def write_run(root: Path, files: dict[str, Any], curriculum: dict[str, list[str]] | None = None) -> Path:
    """A checkpoint folder: event files by name (a list of pairs, or raw bytes), and its label lists."""
    events = root / "ckpt" / "events"
    events.mkdir(parents=True)
    for name, content in files.items():
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        (events / name).write_bytes(raw)
    if curriculum is not None:
        folder = root / "ckpt" / "curriculum"
        folder.mkdir()
        for name, tasks in curriculum.items():
            (folder / f"{name}_tasks.json").write_text(json.dumps(tasks))
    return root
