"""Proofs that a task can be done in `techtree`: a plan from true facts, carried out through `World.step`.

A proof is no agent. It reads the world's inside, finds ways over its voxels, and wastes no try. What it
leaves is a list of actions that anybody can replay.
"""

from rollouts.worlds.techtree.prover.proof import Proof, checked, prove

__all__ = ["Proof", "checked", "prove"]
