"""Coverage-guided fuzzing of everything that reads what others wrote.

    python -m tests.fuzz                              every target, as CI does: a fixed number of inputs each
    python -m tests.fuzz voyager --seconds 600        ten minutes of one; inputs that reach new code are kept
    python -m tests.fuzz native --input FILE          one input again

A finding is told with its traceback, and its input is left in data/fuzz/<target>/finding-….
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import atheris
import typer

# numba compiles what is written, and would be given the calls that count what is reached.
_COMPILED = ["rollouts.window_kernel"]
with atheris.instrument_imports(include=["rollouts", "prompts", "warehouse", "pipeline"], exclude=_COMPILED):
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


def fuzz(name: str, options: list[str], corpus: Path) -> None:
    """Fuzzes until something is found or the options end it, from the target's seeds and what is in the
    corpus, where inputs that reach new code go. Never returns: libFuzzer ends the process."""
    for folder in (_FOUND / name, corpus):
        folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(TARGETS[name].seeds()):
        (corpus / f"seed{number:02}").write_bytes(content)
        once(name, content)  # compiles what is compiled at first use, so that no input looks slow for it
    options += [f"-rss_limit_mb={_MEMORY_MB}", f"-timeout={_SLOW_S}", "-max_len=65536"]
    options += [f"-artifact_prefix={_FOUND / name}/finding-"]
    atheris.Setup([name, *options, str(corpus)], lambda data: once(name, data))
    atheris.Fuzz()


def every(seed: int) -> None:
    """Every target in a process of its own, with its number of inputs. What earlier runs kept plays no
    part, so that a run can be made again."""

    def run(name: str, corpus: str) -> subprocess.CompletedProcess[str]:
        command = [
            sys.executable,
            "-m",
            "tests.fuzz",
            name,
            "--fixed",
            "--seed",
            str(seed),
            "--corpus",
            corpus,
        ]
        return subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )

    failed = []
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(os.cpu_count()) as pool:
        ends = pool.map(run, TARGETS, [f"{scratch}/{name}" for name in TARGETS])
        for (name, target), ended in zip(TARGETS.items(), ends, strict=True):
            sys.stdout.write(
                f"{name}: {target.runs} inputs, {'FINDING' if ended.returncode else 'nothing'}\n"
            )
            if ended.returncode:
                failed.append(name)
                sys.stdout.write(ended.stdout)
    if failed:
        sys.exit(f"findings in {', '.join(failed)}; the inputs are in {_FOUND}")


def main(
    target: Annotated[str | None, typer.Argument(help="what to fuzz; without one, everything")] = None,
    seconds: Annotated[int, typer.Option(min=1, help="how long, where there is a target")] = 60,
    fixed: Annotated[bool, typer.Option("--fixed", help="the number of inputs of CI, however long")] = False,
    seed: Annotated[int, typer.Option(min=1, help="of the mutations")] = 1,
    corpus: Annotated[Path | None, typer.Option(help="inputs to begin with and to add to")] = None,
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
        limit = [f"-runs={TARGETS[target].runs}", "-verbosity=0"] if fixed else [f"-max_total_time={seconds}"]
        fuzz(target, [f"-seed={seed}", *limit], corpus or _FOUND / target)


if __name__ == "__main__":
    typer.run(main)
