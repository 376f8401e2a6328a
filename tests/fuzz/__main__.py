"""Coverage-guided fuzzing of everything that reads what others wrote.

    python -m tests.fuzz                              the targets
    python -m tests.fuzz voyager --seconds 600        ten minutes of one, inputs that reach new code are kept
    python -m tests.fuzz vpt --runs 2000 --seed 1     as CI does
    python -m tests.fuzz native --input FILE          one input again

A finding ends the run with its traceback and leaves its input in the corpus folder (data/fuzz/<target>).
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import atheris
import typer

with atheris.instrument_imports(include=["rollouts.ingest", "prompts", "warehouse", "pipeline"]):
    from tests.fuzz.targets import TARGETS

_MEMORY_MB = 4096
_SLOW_S = 30


def once(name: str, data: bytes) -> None:
    """One input, in a folder of its own."""
    with tempfile.TemporaryDirectory(dir=_scratch()) as folder:
        TARGETS[name].read(data, Path(folder))


def _scratch() -> str | None:
    # Memory, where there is some: a run writes thousands of small files.
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main(
    target: Annotated[str | None, typer.Argument(help="what to fuzz; without one, the targets")] = None,
    seconds: Annotated[int, typer.Option(min=1, help="how long")] = 60,
    runs: Annotated[int | None, typer.Option(min=1, help="how many inputs at most")] = None,
    seed: Annotated[int, typer.Option(min=1, help="of the mutations")] = 1,
    corpus: Annotated[
        Path | None, typer.Option(help="a folder of inputs to begin with and to add to")
    ] = None,
    one: Annotated[Path | None, typer.Option("--input", help="a file to run once")] = None,
) -> None:
    """Fuzzes a target until it finds something, or the time or the number of inputs is used up."""
    if target is None:
        sys.stdout.write("".join(f"{name}\n" for name in TARGETS))
        return
    if target not in TARGETS:
        sys.exit(f"no target is called {target}; there are: {', '.join(TARGETS)}")
    if one is not None:
        once(target, one.read_bytes())
        return
    folder = corpus or Path("data/fuzz") / target
    folder.mkdir(parents=True, exist_ok=True)
    begin = Path(tempfile.mkdtemp(dir=_scratch()))
    try:
        for number, content in enumerate(TARGETS[target].seeds()):
            (begin / f"seed{number:02}").write_bytes(content)
            once(target, content)
        options = [f"-seed={seed}", f"-max_total_time={seconds}", f"-rss_limit_mb={_MEMORY_MB}"]
        options += [f"-timeout={_SLOW_S}", "-max_len=65536", f"-artifact_prefix={folder}/finding-"]
        options += ["-print_final_stats=1"] if runs is None else [f"-runs={runs}"]
        atheris.Setup([sys.argv[0], *options, str(folder), str(begin)], lambda data: once(target, data))
        atheris.Fuzz()
    finally:
        shutil.rmtree(begin, ignore_errors=True)


if __name__ == "__main__":
    typer.run(main)
