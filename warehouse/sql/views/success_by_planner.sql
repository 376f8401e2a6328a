-- The pairs of a frozen evaluation by planner seed.
CREATE VIEW success_by_planner AS
SELECT
    f.build,
    f.task_group,
    f.planner_seed,
    f.difficulty,
    f.snapshot_id,
    f.snapshot_id IS NOT DISTINCT FROM b.snapshot_id AS is_current,
    f.tasks,
    f.worlds,
    f.n AS pairs,
    f.excluded,
    e.k AS empty_k,
    e.k / nullif(e.n, 0) AS empty,
    e.low AS empty_low,
    e.high AS empty_high,
    f.k AS frozen_k,
    f.k / nullif(f.n, 0) AS frozen,
    f.low AS frozen_low,
    f.high AS frozen_high,
    f.difference,
    f.difference_low,
    f.difference_high,
    f.drawn,
    f.only_frozen,
    f.only_empty,
    f.mcnemar_p,
    f.config_hash,
    f.evaluation_id
FROM evaluations AS f
JOIN evaluations AS e USING (evaluation_id, level, planner_seed)
LEFT JOIN builds AS b ON b.build = f.build
WHERE f.arm = 'frozen' AND e.arm = 'empty' AND level = 'planner'
ORDER BY f.build, f.task_group, f.planner_seed, f.evaluation_id;

COMMENT ON VIEW success_by_planner IS 'Does it help every planner? One row per evaluation and planner seed';
COMMENT ON COLUMN success_by_planner.build IS 'The build whose snapshot was evaluated';
COMMENT ON COLUMN success_by_planner.task_group IS 'The group of tasks';
COMMENT ON COLUMN success_by_planner.planner_seed IS 'Seed of the planner, with misconceptions of its own';
COMMENT ON COLUMN success_by_planner.difficulty IS 'easy or hard, as the suite says of the group; null where it does not say';
COMMENT ON COLUMN success_by_planner.snapshot_id IS 'The frozen knowledge';
COMMENT ON COLUMN success_by_planner.is_current IS 'Is that what the build''s knowledge freezes to now? false after the build, or one before it, was curated anew';
COMMENT ON COLUMN success_by_planner.tasks IS 'Tasks behind the row';
COMMENT ON COLUMN success_by_planner.worlds IS 'Worlds per task';
COMMENT ON COLUMN success_by_planner.pairs IS 'Pairs of episodes that count: the same task, world and planner seed with and without knowledge';
COMMENT ON COLUMN success_by_planner.excluded IS 'Pairs of which the infrastructure ended one or both, not in pairs';
COMMENT ON COLUMN success_by_planner.empty_k IS 'Pairs that succeeded without knowledge';
COMMENT ON COLUMN success_by_planner.empty IS 'empty_k / pairs; null without a pair, as all shares';
COMMENT ON COLUMN success_by_planner.empty_low IS 'Lower end of its 95 % Wilson interval';
COMMENT ON COLUMN success_by_planner.empty_high IS 'Upper end of that interval';
COMMENT ON COLUMN success_by_planner.frozen_k IS 'Pairs that succeeded with the snapshot';
COMMENT ON COLUMN success_by_planner.frozen IS 'frozen_k / pairs';
COMMENT ON COLUMN success_by_planner.frozen_low IS 'Lower end of its 95 % Wilson interval';
COMMENT ON COLUMN success_by_planner.frozen_high IS 'Upper end of that interval';
COMMENT ON COLUMN success_by_planner.difference IS 'frozen - empty';
COMMENT ON COLUMN success_by_planner.difference_low IS 'Lower end of its 95 % bootstrap interval; null where nothing can be drawn again';
COMMENT ON COLUMN success_by_planner.difference_high IS 'Upper end of that interval';
COMMENT ON COLUMN success_by_planner.drawn IS 'What the bootstrap draws again: planner seeds and tasks, tasks, or planner seeds; null where nothing';
COMMENT ON COLUMN success_by_planner.only_frozen IS 'Pairs won with knowledge alone';
COMMENT ON COLUMN success_by_planner.only_empty IS 'Pairs won without knowledge alone';
COMMENT ON COLUMN success_by_planner.mcnemar_p IS 'McNemar''s exact test over these, two-sided; descriptive, pairs of one task or planner are not independent';
COMMENT ON COLUMN success_by_planner.config_hash IS 'All that decides how an episode goes, beside its seeds and its knowledge';
COMMENT ON COLUMN success_by_planner.evaluation_id IS 'Derived from the episodes of both arms and how they ended';
