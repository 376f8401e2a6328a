"""Shared fixtures: the Minecraft domain, and the recorded traces where they are at hand."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from warehouse.domains import Domain, load_domain

ROOT = Path(__file__).resolve().parent.parent
# How long an example takes says something of the machine and nothing of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

TRACES = Path(os.environ.get("MINEEVOLVE_TRACES", ROOT / ".." / "shared" / "traces")).resolve()


@pytest.fixture(scope="session")
def minecraft() -> Domain:
    return load_domain("minecraft")


@pytest.fixture(scope="session")
def traces() -> Path:
    """The folder of recorded traces. Without it the test is skipped, unless MINEEVOLVE_TRACES promised it."""
    if not TRACES.is_dir():
        if "MINEEVOLVE_TRACES" in os.environ:
            pytest.fail(f"MINEEVOLVE_TRACES names {TRACES}, which is no folder")
        pytest.skip(f"no recorded traces at {TRACES}")
    return TRACES


@pytest.fixture(scope="session")
def shared_file(traces: Path) -> Callable[[str], Path]:
    """A file that lies beside the recorded traces, by its path there; where the traces are, it has to be."""

    def found(relative: str) -> Path:
        path = traces.parent / relative
        if not path.exists():
            pytest.fail(f"{path} is missing beside the recorded traces")
        return path

    return found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that asks for the traces is marked as one, so that a run can count and select them."""
    for item in items:
        if "traces" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.traces)
