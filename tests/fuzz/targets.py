"""What is fuzzed: functions of any bytes that fail where a reader raises, loses or lets through something.

A target takes bytes and an empty folder. It never fails because the bytes are bad: bad input has a documented
outcome, and only another one is a finding.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.fuzz import answers, files, recordings, words

Read = Callable[[bytes, Path], None]


class Target(NamedTuple):
    """A reader under test, inputs to start from, and how many CI tries (slow ones fewer)."""

    read: Read
    seeds: Callable[[], list[bytes]]
    runs: int


TARGETS: dict[str, Target] = {
    "voyager": Target(recordings.voyager, recordings.voyager_seeds, 100),
    "minestudio": Target(recordings.minestudio, recordings.minestudio_seeds, 100),
    "vpt": Target(recordings.vpt, recordings.vpt_seeds, 100),
    "minerl": Target(recordings.minerl, recordings.minerl_seeds, 100),
    "minerl_archive": Target(recordings.minerl_archive, recordings.minerl_archive_seeds, 100),
    "native": Target(recordings.native, recordings.native_seeds, 60),
    "answers": Target(answers.read, answers.seeds, 5000),
    "knowledge": Target(files.knowledge, files.knowledge_seeds, 1000),
    "tables": Target(files.tables, files.tables_seeds, 3000),
    "words": Target(words.read, words.seeds, 3000),
    "shown": Target(words.shown, words.shown_seeds, 1000),
    "sql": Target(words.sql, words.sql_seeds, 5000),
}
