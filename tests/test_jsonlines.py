"""The readers of JSON objects: nothing readable is lost, everything else is told with its place."""

import json
import math
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollouts.ingest import jsonlines
from rollouts.ingest.jsonlines import JsonLines, JsonList, ObjectFile, first_object, open_objects


def read(reader: ObjectFile) -> list[tuple[int, int, Any]]:
    return [(record.nth, record.offset, record.value) for record in reader]


def lines(tmp_path: Path, content: bytes, longest: int = 1 << 20) -> JsonLines:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    return JsonLines(path, longest)


def test_line_ends_of_all_systems_may_be_mixed_in_one_file(tmp_path: Path) -> None:
    reader = lines(tmp_path, b'{"a":1}\r\n{"a":2}\n\n{"a":3}\r{"a":4}')
    assert read(reader) == [
        (0, 0, {"a": 1}),
        (1, 9, {"a": 2}),
        (2, 18, {"a": 3}),
        (3, 26, {"a": 4}),
    ]
    assert not reader.faults


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    assert read(lines(tmp_path, b'\xef\xbb\xbf{"a":1}\n'))[0][2] == {"a": 1}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (b'{"a":', "broken JSON"),
        (b'{"a":"\xff"}', "invalid UTF-8 at byte 6"),
        (b"[1,2]", "not an object"),
        (b"17", "not an object"),
        (b'{"a":' + b"9" * 100 + b"}", "longer than 64"),
        (b'{"a":1e400}', "broken JSON"),
        (b'{"a":' + b"[" * 20 + b"]" * 20 + b"}", "nested deeper than 9"),
    ],
)
def test_a_bad_line_is_told_with_its_place_and_the_rest_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: bytes, words: str
) -> None:
    monkeypatch.setattr(jsonlines, "DEEPEST", 9)
    reader = lines(tmp_path, b'{"a":1}\n' + bad + b'\n{"a":2}\n', longest=64)
    assert [(nth, value) for nth, _, value in read(reader)] == [(0, {"a": 1}), (2, {"a": 2})]
    (fault,) = reader.faults
    assert fault.offset == 8
    assert words in fault.reason
    (row,) = reader.quarantine("x.jsonl", "test")
    assert (row["position"], row["kept"], row["severity"]) == (8, 2, "quarantined")


def test_a_last_line_that_breaks_off_is_truncated(tmp_path: Path) -> None:
    reader = lines(tmp_path, b'{"a":1}\n{"a":"\xe2\x82')
    assert len(read(reader)) == 1
    assert reader.faults[0].reason.startswith("truncated JSON")


def test_an_empty_file_and_one_of_another_format_are_quarantined_whole(tmp_path: Path) -> None:
    empty = lines(tmp_path, b"")
    assert not read(empty)
    assert [row["reason"] for row in empty.quarantine("x", "test")] == ["empty file"]
    foreign = lines(tmp_path, b"\x00\x01binary\nmore\n" * 500)
    assert not read(foreign)
    (row,) = foreign.quarantine("x", "test")
    assert row["reason"].startswith("another format")


def test_a_noisy_file_does_not_fill_the_quarantine(tmp_path: Path) -> None:
    reader = lines(tmp_path, b'{"a":1}\n' + b"noise\n" * 1000)
    assert len(read(reader)) == 1
    rows = reader.quarantine("x", "test")
    assert len(rows) < 250
    assert rows[-1]["reason"] == "800 more stretches that cannot be read"


def test_what_cannot_be_opened_is_told(tmp_path: Path) -> None:
    reader = JsonLines(tmp_path)
    assert not read(reader)
    assert reader.quarantine("x", "test")[0]["reason"].startswith("cannot be read")


def test_pythons_nan_stays_what_it_is_and_is_no_null(tmp_path: Path) -> None:
    value = read(lines(tmp_path, b'{"a":NaN,"b":-Infinity,"c":null}\n'))[0][2]
    assert math.isnan(value["a"])
    assert (value["b"], value["c"]) == (-math.inf, None)


@pytest.mark.parametrize(
    ("tail", "truncated"),
    [
        (b"", False),
        (b'{"a":', True),
        (b'{"a":"}\\"', True),
        (b'{"a":"\xe2\x82', True),
        (b'{"a":1} and more', False),
        (b"foreign", False),
        (b"\0\0\0\0", False),
        (b'{"a":\n', False),  # a whole line, and broken
    ],
)
def test_only_an_object_that_the_file_ends_in_makes_it_truncated(
    tmp_path: Path, tail: bytes, truncated: bool
) -> None:
    reader = lines(tmp_path, b'{"a":1}\n' + tail)
    read(reader)
    assert reader.truncated is truncated
    assert bool(reader.faults) is bool(tail)


@pytest.mark.parametrize(
    ("content", "truncated"),
    [(b'[{"a":1}', True), (b'[{"a":1}, {"a"', True), (b'[{"a":1}]', False), (b'[{"a":1}] and [', False)],
)
def test_a_list_is_truncated_where_it_does_not_end(tmp_path: Path, content: bytes, truncated: bool) -> None:
    reader = as_list(tmp_path, content)
    read(reader)
    assert reader.truncated is truncated


def test_lines_that_span_the_pieces_are_read_whole(tmp_path: Path) -> None:
    long = b'{"a":"' + b"x" * (3 << 20) + b'"}\n'
    reader = lines(tmp_path, long * 2, longest=4 << 20)
    assert [offset for _, offset, _ in read(reader)] == [0, len(long)]


def as_list(tmp_path: Path, content: bytes, longest: int = 1 << 20) -> JsonList:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    return JsonList(path, longest)


def test_a_list_is_read_element_by_element(tmp_path: Path) -> None:
    content = [{"a": ']}\\"[{'}, {"b": [1, {"c": 2}]}, {}]
    reader = as_list(tmp_path, json.dumps(content).encode())
    assert [value for _, _, value in read(reader)] == content
    assert not reader.faults


@pytest.mark.parametrize(
    ("content", "kept", "words"),
    [
        (b'[{"a":1}, {"a":2}', 2, "does not end"),
        (b'[{"a":1}, {"a":', 1, "truncated inside an element"),
        (b'[{"a":1}, 7, {"a":2}]', 2, "not an object"),
        (b'[{"a":1}, {"a" 1}, {"a":2}]', 2, "broken JSON"),
        (b'[{"a":1}] and more', 1, "foreign content after the list"),
        (b'[{"a":1}, {"a":"' + b"x" * 90 + b'"}, {"a":2}]', 2, "longer than 64"),
        (b'{"a":1}', 0, "not a JSON list"),
    ],
)
def test_a_damaged_list_keeps_what_is_whole(tmp_path: Path, content: bytes, kept: int, words: str) -> None:
    reader = as_list(tmp_path, content, longest=64)
    assert len(read(reader)) == kept
    assert words in reader.faults[0].reason


def test_a_broken_element_keeps_its_number(tmp_path: Path) -> None:
    assert [nth for nth, _, _ in read(as_list(tmp_path, b'[{"a":1}, nonsense, {"a":2}]'))] == [0, 2]


def test_the_first_byte_tells_a_list_from_lines(tmp_path: Path) -> None:
    path = tmp_path / "either"
    path.write_bytes(b' \n[{"a":1}]')
    assert isinstance(open_objects(path), JsonList)
    assert first_object(path) == {"a": 1}
    path.write_bytes(b'{"a":1}')
    assert isinstance(open_objects(path), JsonLines)
    path.write_bytes(b"plain text\n" * 10)
    assert first_object(path) is None


@given(st.binary(max_size=300), st.sampled_from(["lines", "list"]))
def test_no_bytes_make_a_reader_raise(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, form: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "noise"
    path.write_bytes(noise if form == "lines" else b"[" + noise)
    reader = JsonLines(path) if form == "lines" else JsonList(path)
    assert reader.kept == len(read(reader)) or reader.kept
    reader.quarantine("noise", "test")


@settings(deadline=None)  # files are written: how long that takes says nothing
@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3), max_size=6), st.data()
)
def test_a_cut_anywhere_keeps_every_object_before_it(
    tmp_path_factory: pytest.TempPathFactory, objects: list[dict[str, str]], data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "cut"
    for reader_class, whole in (
        (JsonLines, b"".join(orjson.dumps(each) + b"\n" for each in objects)),
        (JsonList, orjson.dumps(objects)),
    ):
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
        got = [value for _, _, value in read(reader_class(path))]
        assert got == objects[: len(got)]


@pytest.mark.parametrize(
    "deep", [b'{"a":' * 300 + b"1" + b"}" * 300, b'{"a":' + b"[" * 250 + b"]" * 250 + b"}"]
)
def test_an_object_nested_deeper_than_any_recording_is_told(tmp_path: Path, deep: bytes) -> None:
    reader = lines(tmp_path, deep + b'\n{"a":' + b"[" * 249 + b"]" * 249 + b"}")
    ((nth, _, value),) = read(reader)
    assert nth == 1, "as deep as may be"
    assert isinstance(value["a"], list)
    (fault,) = reader.faults
    assert (fault.offset, fault.reason) == (0, "nested deeper than 250")


def test_a_file_of_endless_objects_is_read_up_to_a_bound_and_the_rest_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonlines, "MOST_OBJECTS", 3)
    reader = lines(tmp_path, b"{}\n" * 5)
    assert [nth for nth, _, _ in read(reader)] == [0, 1, 2]
    (fault,) = reader.faults
    assert (fault.offset, fault.reason) == (9, "not read from here on: over 3 objects")
