"""Input that means harm: every fuzz target on what hypothesis makes of its seeds, and no pickle anywhere."""

import ast
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).parents[1]
SLOW = {"voyager", "minestudio", "vpt", "minerl", "minerl_archive", "native"}
"""targets that import and judge a folder for every input"""


@st.composite
def spoilt(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """A seed with a few places of it replaced, or any bytes."""
    content = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(start + 8, len(content))))
        content[start:end] = draw(
            st.binary(max_size=8)
            | st.sampled_from([b"null", b"-1", b"1e999", b"[[", b"\x1b]0;", b"{{", b"'"])
        )
    return bytes(content[: draw(st.sampled_from([len(content), len(content) // 2]))])


@pytest.mark.parametrize("name", TARGETS)
def test_bad_input_has_the_outcome_that_is_documented(name: str) -> None:
    target = TARGETS[name]
    seeds = target.seeds()

    @settings(
        max_examples=10 if name in SLOW else 60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    @given(spoilt(seeds))
    def read(data: bytes) -> None:
        with TemporaryDirectory() as folder:
            target.read(data, Path(folder))

    for seed in seeds:
        with TemporaryDirectory() as folder:
            target.read(seed, Path(folder))
    read()


PICKLES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}


def unpickles(source: str) -> list[str]:
    """What in a module reads or writes pickles: imports of such modules, and arrays that may be one."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found += [name for name in names if name.partition(".")[0] in PICKLES]
        if isinstance(node, ast.Call):
            found += ["read_pickle"] if getattr(node.func, "attr", "") in {"read_pickle", "to_pickle"} else []
            for keyword in node.keywords:
                never = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                found += ["allow_pickle"] if keyword.arg == "allow_pickle" and not never else []
    return found


def test_no_module_reads_or_writes_pickles() -> None:
    rooms = ("pipeline", "assets", "prompts", "rollouts", "warehouse", "bench")
    modules = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    assert len(modules) > 100
    found = {str(path.relative_to(ROOT)): unpickles(path.read_text(encoding="utf-8")) for path in modules}
    assert not {path: names for path, names in found.items() if names}


@pytest.mark.parametrize(
    "source",
    ["import pickle", "from cloudpickle import dumps", "np.load(x, allow_pickle=True)", "pd.read_pickle(x)"],
)
def test_and_one_that_did_would_be_found(source: str) -> None:
    assert unpickles(source)
