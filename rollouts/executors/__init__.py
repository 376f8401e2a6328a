"""Executors: low-level policies that turn a subgoal into actions, from observations alone."""
