"""One walk for all importers: what can be read, in a fixed order, and what cannot, with why."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from rollouts.ingest.protocol import printable
from rollouts.ingest.registry import IMPORTERS
from rollouts.ingest.walk import each_below, files_below, left_over
from tests.tick_files import read_checked
from warehouse.domains import Domain


def test_files_come_in_the_order_of_their_names_parts(tmp_path: Path) -> None:
    for name in ("b/2", "b/10", "a.txt", "b.txt", "a/z"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    walk = files_below(tmp_path)
    assert list(walk.named()) == ["a/z", "a.txt", "b/10", "b/2", "b.txt"]
    assert walk.files == [path for path in each_below(tmp_path) if isinstance(path, Path)]
    assert not walk.refused


def test_a_single_file_is_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("x")
    assert files_below(tmp_path / "one").named() == {"one": tmp_path / "one"}
    assert files_below(tmp_path / "none").refused == [
        ("none", "dangling link: what it leads to is not there")
    ]


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    folder = tmp_path / "odd"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "real").write_text("x")
    (folder / "linked").symlink_to(folder / "sub" / "real")
    (folder / "dangling.jsonl").symlink_to("/nowhere/at/all")
    (folder / "itself").symlink_to(folder / "itself")
    (folder / "sub" / "up").symlink_to(folder)
    os.mkfifo(folder / "info.jsonl")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(folder)  # a socket's whole path may have 107 bytes
        try:
            server.bind("a_socket")
        finally:
            os.chdir(here)
    return folder


def test_what_is_no_file_is_told_and_not_opened(odd: Path) -> None:
    walk = files_below(odd)
    assert list(walk.named()) == ["linked", "sub/real"]
    assert walk.refused == [
        ("a_socket", "not a file but a socket"),
        ("dangling.jsonl", "dangling link: what it leads to is not there"),
        ("info.jsonl", "not a file but a named pipe"),
        ("itself", "a link that leads to itself"),
        ("sub/up", "a link to a folder, which is not followed"),
    ]


@pytest.mark.parametrize("name", sorted(IMPORTERS))
def test_every_importer_tells_what_the_walk_refuses(odd: Path, minecraft: Domain, name: str) -> None:
    tables = read_checked(IMPORTERS[name], odd, minecraft)
    told = dict(tables["quarantine"].select("path", "reason").rows())
    assert {path: told.get(path) for path, _ in files_below(odd).refused} == dict(files_below(odd).refused)
    assert not IMPORTERS[name].recognises(odd)


_WITHOUT_RIGHTS = """
import os, sys
from pathlib import Path
from rollouts.ingest.walk import files_below
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
walk = files_below(Path(sys.argv[1]))
print(list(walk.named())); print([tuple(one) for one in walk.refused])
"""


def test_what_may_not_be_read_or_entered_is_told() -> None:
    # Not below pytest's folder, which is its user's own.
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        top.chmod(0o755)
        for folder, mode in (("closed", 0o000), ("listed", 0o444), ("open", 0o755)):
            (top / folder).mkdir()
            (top / folder / "f").write_text("x")
            (top / folder).chmod(mode)
        (top / "secret").write_text("x")
        (top / "secret").chmod(0o000)
        try:
            done = subprocess.run(
                [sys.executable, "-c", _WITHOUT_RIGHTS, name], capture_output=True, text=True, check=True
            )
        finally:
            for folder in ("closed", "listed"):
                (top / folder).chmod(0o755)
    assert done.stdout.splitlines() == [
        "['open/f']",
        str(
            [
                ("closed", "the folder cannot be read: Permission denied"),
                ("listed", "the folder cannot be entered: Permission denied"),
                ("secret", "cannot be read: Permission denied"),
            ]
        ),
    ]


def test_folders_nested_deeper_than_calls_can_be_are_walked(tmp_path: Path) -> None:
    chain = [tmp_path / "/".join("d" * depth) for depth in range(1, sys.getrecursionlimit() + 100)]
    for folder in chain:
        folder.mkdir()
    (chain[-1] / "f").write_text("x")
    try:
        assert len(files_below(tmp_path).files) == 1
    finally:  # what cleans up after pytest calls itself for each folder
        (chain[-1] / "f").unlink()
        for folder in reversed(chain):
            folder.rmdir()


def test_a_repository_beside_the_recordings_is_a_side_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    severities = [
        left_over(tmp_path / "x", name, "f")["severity"] for name in (".git/HEAD", "git/HEAD", "README")
    ]
    assert severities == ["ignored", "quarantined", "ignored"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, also ü", "plain, also ü"),
        ("a\tb\x1b[31m", "a\\x09b\\x1b[31m"),
        (os.fsdecode(b"\xff\xc3"), "\\xff\\xc3"),
        ("\ud800 \u2028", "\\ud800 \\u2028"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_a_name_is_shown_byte_by_byte_where_it_is_no_text(text: str, shown: str) -> None:
    assert printable(text) == shown
