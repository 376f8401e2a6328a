"""MineStudio's STEVE-1 as a process that answers JSON lines: pictures and texts in, keys out.

It runs in MineStudio's interpreter (`make world-minestudio`), by its path, and imports nothing of this
project but what lies beside it and the lines that the worlds' workers share.

    {"op": "load", "weights": folder, "device": "cuda", "precision": "bfloat16", "cond_scale": 4.0}
        ->  {"parameters": 230917760, "frame": [128, 128]}
    {"op": "act", "asks": [{"episode", "text", "seed", "step", "frame"}, ...]}
        ->  {"actions": [{"held": ["attack"], "pitch": 0.0, "yaw": 1.6}, ...]}, one for each ask
    {"op": "forget", "episode": id}     ->  {}
    {"op": "memory"}                    ->  {"bytes": most that was held on the GPU, or by the process}

An ask's action is drawn by itself, from (seed, step) and the logits, so that it does not depend on who else
is in the batch but by the noise of the arithmetic (other sizes of matrices add up in another order).
"""

from __future__ import annotations

import base64
import resource
import sys
import types
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "workers"))

import lines
import numpy as np
import torch
from noise import drawn

FRAME = (128, 128)
PRECISIONS = {"float32": None, "bfloat16": torch.bfloat16, "float16": torch.float16}
_NOOP_CAMERA = 1e-6
"""degrees that are none: the middle bin comes back from its coding as this much noise at most"""


class Policy:
    """The policy, what it remembers of each episode, and the texts that it knows."""

    def __init__(self) -> None:
        self.model: Any = None
        self.conditions: dict[str, torch.Tensor] = {}
        self.batched: tuple[str, ...] = ()
        """whose states `states` holds together, in this order"""
        self.states: list[torch.Tensor] = []
        self.apart: dict[str, list[torch.Tensor]] = {}
        """states of those who were not in the last batch"""

    def load(self, request: dict[str, Any]) -> dict[str, Any]:
        """Reads the weights."""
        folder, device, precision = Path(request["weights"]), request["device"], request["precision"]
        if precision not in PRECISIONS:
            raise ValueError(f"no precision {precision!r}; there are: {', '.join(PRECISIONS)}")
        if device.startswith("cuda") and not torch.cuda.is_available():
            raise RuntimeError(
                f"device {device}: PyTorch finds no GPU here; 'device': 'cpu' plays without one"
            )
        self.device, self.precision = torch.device(device), PRECISIONS[precision]
        self.scale = float(request["cond_scale"])
        self.model = _policy_class().from_pretrained(str(folder)).to(self.device).eval()
        _use_tokenizer(folder / "tokenizer")
        self.transform, self.mapping = _coding()
        return {"parameters": sum(each.numel() for each in self.model.parameters()), "frame": list(FRAME)}

    def act(self, request: dict[str, Any]) -> dict[str, Any]:
        """The actions for one more picture of each of some episodes, in one pass."""
        asks = request["asks"]
        try:
            with torch.inference_mode():
                return {"actions": self._act(asks)}
        except torch.OutOfMemoryError as error:
            raise RuntimeError(
                f"{self.device} has no memory for {len(asks)} episodes at once: fewer 'games' or a smaller "
                f"'batch', or 'precision': 'bfloat16'. {error}"
            ) from error

    def _act(self, asks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        episodes = tuple(ask["episode"] for ask in asks)
        if len(set(episodes)) < len(episodes):
            raise ValueError("an episode asks twice in one batch")
        width, height = FRAME
        frames = np.stack(
            [
                np.frombuffer(base64.b64decode(ask["frame"]), np.uint8).reshape(height, width, 3)
                for ask in asks
            ]
        )
        condition = {
            "cond_scale": self.scale,
            "mineclip_embeds": torch.cat([self._condition(ask["text"]) for ask in asks]),
        }
        picture = torch.from_numpy(frames)[:, None].to(self.device)
        self._gather(episodes, condition)
        with torch.autocast(self.device.type, self.precision, enabled=self.precision is not None):
            latents, self.states = self.model.forward({"image": picture, "condition": condition}, self.states)
        logits = {
            name: values.reshape(len(asks), -1).float().cpu().numpy()
            for name, values in latents["pi_logits"].items()
        }
        return [
            self._keys({name: values[at] for name, values in logits.items()}, ask["seed"], ask["step"])
            for at, ask in enumerate(asks)
        ]

    def forget(self, request: dict[str, Any]) -> dict[str, Any]:
        """An episode has ended."""
        self._spread()
        self.apart.pop(request["episode"], None)
        return {}

    def memory(self, request: dict[str, Any]) -> dict[str, Any]:
        """The most memory that was in use: on the GPU, or of this process where there is none."""
        if self.device.type == "cuda":
            return {"bytes": torch.cuda.max_memory_allocated(self.device)}
        return {"bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}

    def _condition(self, text: str) -> torch.Tensor:
        """The text as the policy is conditioned by it: the mean of the prior, so that a text means the same
        in every episode."""
        if text not in self.conditions:
            made = self.model.prepare_condition({"cond_scale": self.scale, "text": text}, deterministic=True)
            self.conditions[text] = made["mineclip_embeds"]
        return self.conditions[text]

    def _gather(self, episodes: tuple[str, ...], condition: dict[str, Any]) -> None:
        """Brings the states of these episodes together, in this order; new ones begin."""
        if episodes == self.batched:
            return
        self._spread()
        for episode in episodes:
            if episode not in self.apart:
                self.apart[episode] = self.model.initial_state(condition, 1)
        own = [self.apart.pop(episode) for episode in episodes]
        self.states = [torch.cat(parts).to(self.device) for parts in zip(*own, strict=True)]
        self.batched = episodes

    def _spread(self) -> None:
        for at, episode in enumerate(self.batched):
            self.apart[episode] = [part[at : at + 1].clone() for part in self.states]
        self.batched, self.states = (), []

    def _keys(self, logits: dict[str, np.ndarray[Any, Any]], seed: int, step: int) -> dict[str, Any]:
        """One action, as keys."""
        # Both have a row for each action of a batch, of which there is one.
        one = {name: np.array([[index]]) for name, index in drawn(logits, seed, step).items()}
        named = self.transform.policy2env(self.mapping.to_factored(one))
        camera = np.asarray(named.pop("camera"), dtype=float).reshape(2)
        pitch, yaw = (0.0 if abs(axis) < _NOOP_CAMERA else float(axis) for axis in camera)
        held = sorted(name for name, down in named.items() if np.asarray(down).item())
        return {"held": held, "pitch": pitch, "yaw": yaw}


def _policy_class() -> Any:
    # The package's __init__ imports all of its policies, and with them libraries of several hundred MB that
    # STEVE-1 has no use for; a package of the same place without it leads to the one module.
    import minestudio

    package = types.ModuleType("minestudio.models")
    package.__path__ = [str(Path(minestudio.__file__).parent / "models")]
    sys.modules.setdefault("minestudio.models", package)
    from minestudio.models.steve_one.body import SteveOnePolicy

    return SteveOnePolicy


def _use_tokenizer(folder: Path) -> None:
    """Lets MineCLIP read texts with this folder's tokenizer; it would ask the hub for CLIP's otherwise."""
    if not folder.is_dir():
        return
    from minestudio.utils.mineclip_lib.mineclip import tokenization
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    tokenization.get_tokenizer = lambda name, use_fast=True: tokenizer


def _coding() -> tuple[Any, Any]:
    """How the policy's two numbers stand for keys and degrees: MineStudio's own, with its settings."""
    from minestudio.utils.vpt_lib.action_mapping import CameraHierarchicalMapping
    from minestudio.utils.vpt_lib.actions import ActionTransformer

    transform = ActionTransformer(
        camera_binsize=2, camera_maxval=10, camera_mu=10, camera_quantization_scheme="mu_law"
    )
    return transform, CameraHierarchicalMapping(n_camera_bins=11)


if __name__ == "__main__":
    policy = Policy()
    lines.serve(
        {"load": policy.load, "act": policy.act, "forget": policy.forget, "memory": policy.memory},
        close=lambda: None,
    )
