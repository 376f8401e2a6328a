"""Worlds: where rollouts happen, one package each, behind `rollouts.protocols.World`."""
