-- The pairs of a frozen evaluation task by task.
CREATE VIEW success_by_task AS
SELECT
    f.build,
    f.task_group,
    f.task_id,
    f.difficulty,
    f.snapshot_id,
    f.snapshot_id IS NOT DISTINCT FROM b.snapshot_id AS is_current,
    f.worlds,
    f.planner_seeds,
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
JOIN evaluations AS e USING (evaluation_id, level, task_id)
LEFT JOIN builds AS b ON b.build = f.build
WHERE f.arm = 'frozen' AND e.arm = 'empty' AND level = 'task'
ORDER BY f.build, f.task_group, f.task_id, f.evaluation_id;

COMMENT ON VIEW success_by_task IS 'Which tasks does frozen knowledge help with? One row per evaluation and task';
COMMENT ON COLUMN success_by_task.build IS 'The build whose snapshot was evaluated';
COMMENT ON COLUMN success_by_task.task_group IS 'The group of tasks';
COMMENT ON COLUMN success_by_task.task_id IS 'The task of the suite';
COMMENT ON COLUMN success_by_task.difficulty IS 'easy or hard, as the suite says of the group; null where it does not say';
COMMENT ON COLUMN success_by_task.snapshot_id IS 'The frozen knowledge';
COMMENT ON COLUMN success_by_task.is_current IS 'Is that what the build''s knowledge freezes to now? false after the build, or one before it, was curated anew';
COMMENT ON COLUMN success_by_task.worlds IS 'Worlds per task';
COMMENT ON COLUMN success_by_task.planner_seeds IS 'Planner seeds that play';
COMMENT ON COLUMN success_by_task.pairs IS 'Pairs of episodes that count: the same task, world and planner seed with and without knowledge';
COMMENT ON COLUMN success_by_task.excluded IS 'Pairs of which the infrastructure ended one or both, not in pairs';
COMMENT ON COLUMN success_by_task.empty_k IS 'Pairs that succeeded without knowledge';
COMMENT ON COLUMN success_by_task.empty IS 'empty_k / pairs; null without a pair, as all shares';
COMMENT ON COLUMN success_by_task.empty_low IS 'Lower end of its 95 % Wilson interval';
COMMENT ON COLUMN success_by_task.empty_high IS 'Upper end of that interval';
COMMENT ON COLUMN success_by_task.frozen_k IS 'Pairs that succeeded with the snapshot';
COMMENT ON COLUMN success_by_task.frozen IS 'frozen_k / pairs';
COMMENT ON COLUMN success_by_task.frozen_low IS 'Lower end of its 95 % Wilson interval';
COMMENT ON COLUMN success_by_task.frozen_high IS 'Upper end of that interval';
COMMENT ON COLUMN success_by_task.difference IS 'frozen - empty';
COMMENT ON COLUMN success_by_task.difference_low IS 'Lower end of its 95 % bootstrap interval; null where nothing can be drawn again';
COMMENT ON COLUMN success_by_task.difference_high IS 'Upper end of that interval';
COMMENT ON COLUMN success_by_task.drawn IS 'What the bootstrap draws again: planner seeds and tasks, tasks, or planner seeds; null where nothing';
COMMENT ON COLUMN success_by_task.only_frozen IS 'Pairs won with knowledge alone';
COMMENT ON COLUMN success_by_task.only_empty IS 'Pairs won without knowledge alone';
COMMENT ON COLUMN success_by_task.mcnemar_p IS 'McNemar''s exact test over these, two-sided; descriptive, pairs of one task or planner are not independent';
COMMENT ON COLUMN success_by_task.config_hash IS 'All that decides how an episode goes, beside its seeds and its knowledge';
COMMENT ON COLUMN success_by_task.evaluation_id IS 'Derived from the episodes of both arms and how they ended';
