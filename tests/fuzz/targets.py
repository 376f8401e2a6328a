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
    """A reader under test, and inputs to start from."""

    read: Read
    seeds: Callable[[], list[bytes]]


TARGETS: dict[str, Target] = {
    "voyager": Target(recordings.voyager, recordings.voyager_seeds),
    "minestudio": Target(recordings.minestudio, recordings.minestudio_seeds),
    "vpt": Target(recordings.vpt, recordings.vpt_seeds),
    "minerl": Target(recordings.minerl, recordings.minerl_seeds),
    "minerl_archive": Target(recordings.minerl_archive, recordings.minerl_archive_seeds),
    "native": Target(recordings.native, recordings.native_seeds),
    "answers": Target(answers.read, answers.seeds),
    "knowledge": Target(files.knowledge, files.knowledge_seeds),
    "tables": Target(files.tables, files.tables_seeds),
    "words": Target(words.read, words.seeds),
    "shown": Target(words.shown, words.shown_seeds),
    "sql": Target(words.sql, words.sql_seeds),
}
