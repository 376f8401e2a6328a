"""Reading a JSON list as far as it goes."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rollouts.ingest.json_pairs import locate, read_list

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(elements=st.lists(values, max_size=5), cut=st.integers(0, 400))
def test_whatever_stands_before_a_cut_is_kept(
    tmp_path_factory: object, elements: list[object], cut: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "list"  # type: ignore[attr-defined]
    content = json.dumps(elements, ensure_ascii=False).encode()
    path.write_bytes(content[:cut])
    found = read_list(path)
    kept = [value for _, value in found.elements]
    if cut >= len(content):
        assert kept == elements
        assert found.reason is None
    else:
        assert found.reason is not None
        # A number cut in the middle still reads as a shorter number; everything before it is whole.
        assert kept[:-1] == elements[: max(len(kept) - 1, 0)]


def test_offsets_are_bytes(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_bytes('["ä", "b"]'.encode())
    assert locate(path) == [1, 7]


def test_content_after_the_list_is_named(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_bytes(b"[1] trailing")
    found = read_list(path)
    assert ([value for _, value in found.elements], found.broken_at) == ([1], 3)
    assert found.reason == "foreign content after the list"


def test_a_number_without_end_is_the_end_of_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_bytes(b'["a", ' + b"9" * 5000 + b"]")
    found = read_list(path)
    assert ([value for _, value in found.elements], found.broken_at) == (["a"], 6)
    assert found.reason is not None


def test_a_file_larger_than_any_attempt_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "list"
    with path.open("wb") as handle:
        handle.truncate((1 << 25) + 1)
    found = read_list(path)
    assert not found.elements
    assert "bytes" in (found.reason or "")
