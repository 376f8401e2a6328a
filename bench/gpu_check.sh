#!/usr/bin/env bash
# What this project does on a GPU, in at most six minutes:
#
#   bench/gpu_check.sh MODEL           a folder with a model, or a name that vllm can fetch
#   bench/gpu_check.sh MODEL STEVE1    the same, and the folder with STEVE-1's weights
#   bench/gpu_check.sh --cpu           a dry run with the small model of `make test-vllm`; its figures are a CPU's
#
# STEVE-1's ticks per second at batch 1, 4 and 16 are measured where there is its interpreter (make world-minestudio);
# without weights of your own with the random ones of `make test-steve1`. Its PyTorch is the CPU's build: to measure a
# GPU, install PyTorch's own into it.
#
# VLLM_PYTHON names the interpreter that has vllm (default: the one of .venv), GPU the device (default 0).
# Exit status: 0 measured and the goal reached, 1 missed or failed, 2 called wrongly, 77 not run on a GPU.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-.venv/bin/python}
gpu=${GPU:-0}
limit_s=270
steve1_s=80

refuse() {
  echo "gpu_check: $1" >&2
  exit 2
}

[ $# -eq 1 ] || [ $# -eq 2 ] || refuse "name a model, or --cpu: bench/gpu_check.sh /models/qwen"
[ -x "$(command -v "$python")" ] || refuse "$python is not there: make setup"

scratch=$(mktemp -d)
watcher=
finish() {
  [ -z "$watcher" ] || kill "$watcher" 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT

used_mib() {
  nvidia-smi --id="$gpu" --query-gpu=memory.used --format=csv,noheader,nounits
}

watch_memory() {
  # The driver is asked, since the model lives in processes of its own.
  while used_mib >>"$scratch/used"; do sleep 0.2; done
}

steve1() {
  # device, and what else bench.steve1 is told
  if [ ! -d "${STEVE1:-.venv-minestudio/steve1-random}" ]; then
    echo "STEVE-1: not measured: make test-steve1 brings its interpreter and random weights"
    return
  fi
  CUDA_VISIBLE_DEVICES="$gpu" timeout "$steve1_s" "$python" -m bench.steve1 --device "$@" \
    ${STEVE1:+--weights "$STEVE1"} || echo "STEVE-1: not measured"
}
STEVE1=${2:-}

if [ "$1" = --cpu ]; then
  echo "dry run on the CPU: these figures say nothing of a GPU"
  timeout "$limit_s" "$python" -m bench.model --questions 4 --repetitions 2
  steve1 cpu --steps 10
  echo "not run on a GPU"
  exit 0
fi

if ! command -v nvidia-smi >/dev/null || ! used_mib >"$scratch/before" 2>/dev/null; then
  echo "not run on a GPU: nvidia-smi finds none"
  exit 77
fi
nvidia-smi --id="$gpu" --query-gpu=name,memory.total,driver_version --format=csv,noheader

cat >"$scratch/models.toml" <<ROW
[gpu_check]
engine = "vllm"
model = '$1'
python = '${VLLM_PYTHON:-$python}'
devices = "$gpu"
show_schema = false
ROW

watch_memory &
watcher=$!
status=0
MINEEVOLVE_MODELS="$scratch/models.toml" \
  timeout "$limit_s" "$python" -m bench.model gpu_check --questions 64 --repetitions 2 || status=$?
[ "$status" -ne 124 ] || echo "gpu_check: it took longer than $limit_s s" >&2
peak=$(sort -n "$scratch/used" | tail -1)
# vllm takes its share of the memory when it starts, whatever the model needs of it, and here two engines are loaded.
echo "GPU memory: $(cat "$scratch/before") MiB before, $peak MiB at most (two engines, each with the share it was given)"
steve1 cuda --precision bfloat16
[ "$status" -eq 0 ] || exit 1
