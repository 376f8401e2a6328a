"""What the columns of the studies' tables hold."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

NOTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "name": "Task group, or several of them together",
        "episodes": "Training episodes up to the checkpoint, M; null for the cold start",
        "build": "Build whose snapshot was frozen; null for the empty store",
        "curriculum": "Curriculum; cold_start is the empty store",
        "progress": "Share of the curriculum's training episodes, 0 to 1",
        "other": "Curriculum that it is compared with",
        "of": "The last checkpoint, or all of them",
        "tasks": "Tasks that were asked",
        "k": "Episodes that succeeded",
        "n": "Episodes that count",
        "share": "k / n by group, weighted by tasks",
        "low": "Lower end of the 95 % Wilson interval of k / n",
        "high": "Upper end of the 95 % Wilson interval of k / n",
        "excluded": "Worlds that are in no arm, since the infrastructure ended one of them",
        "other_k": "Episodes of the arm that it is compared with that succeeded, of the same n",
        "other_share": "Their share, weighted by tasks",
        "other_low": "Lower end of its 95 % Wilson interval",
        "other_high": "Upper end of its 95 % Wilson interval",
        "difference": "share - other_share, pair by pair",
        "difference_low": "Lower end of its 95 % bootstrap interval",
        "difference_high": "Upper end of its 95 % bootstrap interval",
        "drawn": "What the bootstrap draws again; empty where there is no interval",
        "only_first": "Pairs that only this arm won",
        "only_second": "Pairs that only the other arm won",
        "mcnemar_p": "McNemar's exact test over them, descriptive",
        "effect": "helped, hurt, or no difference shown",
        "skills": "Active skills of the snapshot",
        "remedies": "Active remedies of the snapshot",
        "prompts": "Different prompts to planner and adaptor",
        "tokens": "Mean tokens of the retrieved entries in one of them",
        "tokens_low": "Lower end of its 95 % bootstrap over tasks",
        "tokens_high": "Upper end of its 95 % bootstrap over tasks",
        "tokens_most": "Most tokens of retrieved entries in a prompt",
        "played": "Evaluation episodes",
        "calls": "Mean model calls in one: plan, repairs, retries, diagnoses",
        "calls_low": "Lower end of its 95 % bootstrap over tasks",
        "calls_high": "Upper end of its 95 % bootstrap over tasks",
        "calls_most": "Most model calls in an episode",
        "retrievals": "Retrievals that were timed (telemetry)",
        "median_ms": "Median time of one, in ms",
        "p05_ms": "Time that 5 % of them stayed below, in ms",
        "p95_ms": "Time that 95 % of them stayed below, in ms",
    }
)
