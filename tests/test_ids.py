"""Ids over canonical content, parts of which may be spelled out once for several of them."""

from hypothesis import given
from hypothesis import strategies as st

from warehouse.ids import canonical_bytes, derive_id, spelled

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e6, 1e6) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(PLAIN, PLAIN)
def test_what_is_spelled_out_changes_no_byte_and_no_id(part: object, other: object) -> None:
    assert canonical_bytes([other, spelled(part)]) == canonical_bytes([other, part])
    assert canonical_bytes({"a": spelled(part), "b": other}) == canonical_bytes({"b": other, "a": part})
    assert derive_id("thing", [spelled(part)]) == derive_id("thing", [part])
