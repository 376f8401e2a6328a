"""A curriculum that is played in seconds, and the settings of a data home that makes it."""

from pathlib import Path
from typing import Any

from pipeline.settings import Settings

SMALL = """
doc = "A few wooden episodes; the second build is not learnt from."
planners = 2
horizon_cap = 600

[[builds]]
play = [{ groups = ["wooden"], tasks = ["wooden_06", "wooden_10"], episodes = 3 }]

[[builds]]
update_store = false
play = [{ groups = ["wooden"], tasks = ["wooden_06", "wooden_10"], episodes = 3 }]

[[builds]]
play = [{ groups = ["wooden"], tasks = ["wooden_06"], episodes = 2 }]

[evaluate]
groups = ["wooden"]
tasks = ["wooden_06"]
worlds = 1
planners = 2
"""


def small_settings(folder: Path, **more: Any) -> Settings:
    """Settings of a data home in `folder` whose nightly curriculum is this one."""
    own = folder / "curricula"
    own.mkdir(parents=True, exist_ok=True)
    (own / "small.toml").write_text(SMALL, encoding="utf-8")
    return Settings(data=folder / "home", curricula=own, nightly_curriculum="small", workers=0, **more)
