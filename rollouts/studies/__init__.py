"""The studies: what knowledge is worth as it accumulates, as it comes from different curricula, and without
its remedies, and what it costs.

    studies/<scale>/plan.json                   what was made: curricula, checkpoints, what they are asked
    studies/<scale>/curricula/<name>/           a data home for each curriculum
    studies/<scale>/evaluation/                 the episodes of all frozen snapshots and of the empty store
    studies/<scale>/figures/<table>.parquet     k, n and intervals of each study
    studies/<scale>/report/index.html           the page
"""
