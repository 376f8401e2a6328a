"""A STEVE-1 with random weights in a folder, as MineStudio saves and loads it: the real architecture, and a
tokenizer of single letters. It knows nothing; it proves that pictures, texts and states go through.

    .venv-minestudio/bin/python tests/steve1_model.py FOLDER [--wide]

Without --wide its policy has half the width of the published one (231 M parameters in all, 409 M with it).
"""

import json
import sys
import types
from pathlib import Path

import minestudio
import torch
from transformers import CLIPTokenizer

package = types.ModuleType("minestudio.models")
package.__path__ = [str(Path(minestudio.__file__).parent / "models")]
sys.modules["minestudio.models"] = package
from minestudio.models.steve_one.body import SteveOnePolicy  # noqa: E402

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_"


def make(folder: Path, wide: bool) -> None:
    """Writes the folder; the same weights every time."""
    torch.manual_seed(0)
    width = 2 if wide else 1
    policy = SteveOnePolicy(
        mineclip_kwargs={
            "arch": "vit_base_p16_fz.v2.t2",
            "hidden_dim": 512,
            "image_feature_dim": 512,
            "mlp_adapter_spec": "v0-2.t0",
            "pool_type": "attn.d2.nh8.glusw",
            "resolution": [160, 256],
        },
        policy_kwargs={
            "attention_heads": 8 * width,
            "attention_mask_style": "clipped_causal",
            "attention_memory_size": 256,
            "hidsize": 1024 * width,
            "img_shape": [128, 128, 3],
            "impala_chans": [16, 32, 32],
            "impala_kwargs": {"post_pool_groups": 1},
            "impala_width": 4 * width,
            "init_norm_kwargs": {"batch_norm": False, "group_norm_groups": 1},
            "n_recurrence_layers": 4,
            "only_img_input": True,
            "pointwise_ratio": 4,
            "pointwise_use_activation": False,
            "recurrence_type": "transformer",
            "timesteps": 128,
            "use_pre_lstm_ln": False,
        },
    )
    policy.save_pretrained(str(folder))
    words = [*LETTERS, *(f"{letter}</w>" for letter in LETTERS), "<|startoftext|>", "<|endoftext|>"]
    spelling = folder / "spelling"
    spelling.mkdir(exist_ok=True)
    (spelling / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    (spelling / "merges.txt").write_text("#version: 0.2\n")
    CLIPTokenizer(str(spelling / "vocab.json"), str(spelling / "merges.txt")).save_pretrained(
        str(folder / "tokenizer")
    )


if __name__ == "__main__":
    make(Path(sys.argv[1]), "--wide" in sys.argv[2:])
