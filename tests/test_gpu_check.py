"""bench/gpu_check.sh without a GPU, and with a fake driver and the vllm of tests/fake_vllm in its place."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

SCRIPT = ROOT / "bench" / "gpu_check.sh"
DRIVER = """#!/bin/sh
case "$*" in
  *memory.used*) echo 512 ;;
  *) echo "A fake card, 4096 MiB, 0.0" ;;
esac
"""


def check(folder: Path, driver: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    (folder / "bin").mkdir()
    program = folder / "bin" / "nvidia-smi"
    program.write_text(driver)
    program.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHON": sys.executable,
        "PYTHONPATH": f"{ROOT / 'tests' / 'fake_vllm'}:{ROOT}",
    }
    return subprocess.run(
        [str(SCRIPT), *arguments], env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def test_without_a_gpu_it_says_so_and_measures_nothing(tmp_path: Path) -> None:
    done = check(tmp_path, "#!/bin/sh\nexit 9\n", "some-model")
    assert done.returncode == 77
    assert done.stdout == "not run on a GPU: nvidia-smi finds none\n"


@pytest.mark.parametrize("arguments", [(), ("a", "b", "c")])
def test_it_wants_a_model(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = check(tmp_path, DRIVER, *arguments)
    assert done.returncode == 2
    assert "name a model" in done.stderr


def test_it_tells_rates_and_memory_and_what_it_does_not_measure(tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text("{}")
    done = check(tmp_path, DRIVER, str(tmp_path))
    assert done.stdout.startswith("A fake card")
    assert "128 of 128 answers the same" in done.stdout
    assert "answer tokens/s" in done.stdout
    assert "512 MiB before, 512 MiB at most" in done.stdout
    # Where STEVE-1's interpreter is, PyTorch finds no GPU behind the fake driver.
    assert "STEVE-1: not measured" in done.stdout
    # A fake answers at once, so nearly all of the time is ours: whether the goal is met says nothing here.
    assert done.returncode in (0, 1)
