"""Voyager checkpoints: one attempt per event file, one episode per run of files with the same task.

An event file is `[[event, {status, inventory, voxels, …}], …]`; its name is the task and a time stamp. The
agent's own words give `claimed`, curriculum/ gives `label`, and only the inventory gives `success`.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from rollouts.ingest.protocol import Recording, Row, quarantined
from rollouts.ingest.task_text import read_task
from rollouts.ingest.voyager_attempt import Attempt, Carry, Labels
from rollouts.ingest.voyager_folder import FORMAT, EventFile, read_folder, recognises
from warehouse.domains import Domain
from warehouse.ids import derive_id, file_digest

OBSERVES: Final = ["position", "rotation", "vitals", "inventory", "equipped", "messages", "sightings"]


class VoyagerImporter:
    """Reads Voyager checkpoint folders."""

    name = FORMAT

    def recognises(self, folder: Path) -> bool:
        """See `voyager_folder.recognises`."""
        return recognises(folder)

    def read(self, folder: Path, build: str, domain: Domain) -> Iterator[Recording]:
        """One `Recording` per episode, runs in path order and episodes in time order; the last one has the
        files that gave no episode."""
        files, rows = read_folder(folder)
        leftovers = Recording(quarantine=rows)
        for run, of_run in groupby(files, key=lambda file: file.path.parent):
            run_files = list(of_run)
            labels = Labels(run, folder, run_files)
            leftovers.quarantine += labels.rows
            carry = Carry()
            readable = []
            for file in run_files:
                leftovers.quarantine += file.quarantine
                if file.pairs or not file.broken:
                    readable.append(file)
            for task, of_task in groupby(readable, key=lambda file: file.task):
                files_of_task = list(of_task)
                try:
                    yield _episode(files_of_task, task, build, domain, labels, carry)
                except Exception as error:  # what nobody thought of: see `protocol.spared`
                    reason = f"the importer failed on this file: {type(error).__name__}: {error}"
                    leftovers.quarantine += [
                        quarantined(file.relative, FORMAT, reason, size=file.size) for file in files_of_task
                    ]
        yield leftovers


def _episode(
    files: Sequence[EventFile], task: str, build: str, domain: Domain, labels: Labels, carry: Carry
) -> Recording:
    content = [[file.relative, file_digest(file.path)] for file in files]
    episode_id = derive_id("episode", [FORMAT, content])
    reading = read_task(task, domain)
    ticks: list[Row] = []
    recording = Recording(ticks=ticks)
    clock = 0
    for number, file in enumerate(files):
        attempt = Attempt(file, reading, domain, episode_id, number, clock)
        attempt.add_to(recording, ticks, carry, labels)
        clock = attempt.end_tick
    ends = [row["end_reason"] for row in recording.attempts]
    recording.episodes.append(
        {
            "episode_id": episode_id,
            "source": f"{FORMAT}:{files[0].relative}",
            "build": build,
            "goal": task,
            "agent": FORMAT,
            "world": "minecraft server",
            "observes": OBSERVES,
            "n_ticks": clock,
            "end_reason": "infrastructure" if ends[-1] == "infrastructure" else "recording_end",
        }
    )
    return recording
