"""Coverage-guided fuzzing of everything that reads what others wrote.

    python -m tests.fuzz                              every target, as CI does: a fixed number of inputs each
    python -m tests.fuzz voyager --seconds 600        ten minutes of one; inputs that reach new code are kept
    python -m tests.fuzz native --input FILE          one input again

A finding is told with its traceback, and its input is left in data/fuzz/<target>/finding-….
"""

import multiprocessing
import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import atheris
import typer

# Loaded here and once for all targets: instrumenting is what takes the time.
with atheris.instrument_imports(include=["rollouts.ingest", "prompts", "warehouse", "pipeline"]):
    from tests.fuzz.targets import TARGETS

_FOUND = Path("data/fuzz")
_MEMORY_MB = 4096
_SLOW_S = 60


def once(name: str, data: bytes) -> None:
    """One input, in a folder of its own."""
    with tempfile.TemporaryDirectory(dir=_scratch()) as folder:
        TARGETS[name].read(data, Path(folder))


def _scratch() -> str | None:
    # Memory, where there is some: a run writes thousands of small files.
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def fuzz(name: str, options: list[str], kept: list[Path]) -> None:
    """Fuzzes until something is found or the options end it, from the target's seeds and what is kept in the first
    folder of `kept`, where new inputs go. Never returns: libFuzzer ends the process."""
    home = _FOUND / name
    home.mkdir(parents=True, exist_ok=True)
    begin = Path(tempfile.mkdtemp(dir=_scratch()))
    for number, content in enumerate(TARGETS[name].seeds()):
        (begin / f"seed{number:02}").write_bytes(content)
        once(name, content)  # compiles what is compiled at first use, so that no input looks slow for it
    options += [f"-rss_limit_mb={_MEMORY_MB}", f"-timeout={_SLOW_S}", "-max_len=65536"]
    options += [f"-artifact_prefix={home}/finding-"]
    atheris.Setup([name, *options, *map(str, kept), str(begin)], lambda data: once(name, data))
    atheris.Fuzz()


def every(seed: int) -> None:
    """Every target in a process of its own, with its number of inputs. What earlier runs kept plays no part, so
    that a run can be made again."""
    # Forked before anything has started a thread, for what is loaded and instrumented to be there.
    context = multiprocessing.get_context("fork")
    started = {
        name: context.Process(target=fuzz, args=(name, [f"-seed={seed}", f"-runs={target.runs}", "-verbosity=0"], []))
        for name, target in TARGETS.items()
    }
    for process in started.values():
        process.start()
    for process in started.values():
        process.join()
    failed = [name for name, process in started.items() if process.exitcode]
    runs = sum(target.runs for target in TARGETS.values())
    sys.stdout.write(f"{runs} inputs in {len(started)} targets\n")
    if failed:
        sys.exit(f"findings in {', '.join(failed)}; the inputs are in {_FOUND}")


def main(
    target: Annotated[str | None, typer.Argument(help="what to fuzz; without one, everything")] = None,
    seconds: Annotated[int, typer.Option(min=1, help="how long, where there is a target")] = 60,
    seed: Annotated[int, typer.Option(min=1, help="of the mutations")] = 1,
    one: Annotated[Path | None, typer.Option("--input", help="a file to run once")] = None,
) -> None:
    """Fuzzes until something is found, or the time or the number of inputs is used up."""
    if target is None:
        every(seed)
    elif target not in TARGETS:
        sys.exit(f"no target is called {target}; there are: {', '.join(TARGETS)}")
    elif one is not None:
        once(target, one.read_bytes())
    else:
        fuzz(target, [f"-seed={seed}", f"-max_total_time={seconds}"], [_FOUND / target])


if __name__ == "__main__":
    typer.run(main)
