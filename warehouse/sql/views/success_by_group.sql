-- A frozen evaluation, both arms side by side. A build that was evaluated in several ways (other worlds, planner
-- seeds, tasks, configuration) has several rows: they are measurements of their own and are never added up.
CREATE VIEW success_by_group AS
SELECT
    f.build,
    f.task_group,
    f.difficulty,
    f.snapshot_id,
    f.snapshot_id IS NOT DISTINCT FROM b.snapshot_id AS is_current,
    f.tasks,
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
JOIN evaluations AS e USING (evaluation_id, level)
LEFT JOIN builds AS b ON b.build = f.build
WHERE f.arm = 'frozen' AND e.arm = 'empty' AND level = 'group'
ORDER BY f.build, f.task_group, f.evaluation_id;

COMMENT ON VIEW success_by_group IS 'Does frozen knowledge help, group by group? One row per evaluation of a build in a group';
COMMENT ON COLUMN success_by_group.build IS 'The build whose snapshot was evaluated';
COMMENT ON COLUMN success_by_group.task_group IS 'The group of tasks';
COMMENT ON COLUMN success_by_group.difficulty IS 'easy or hard, as the suite says of the group; null where it does not say';
COMMENT ON COLUMN success_by_group.snapshot_id IS 'The frozen knowledge';
COMMENT ON COLUMN success_by_group.is_current IS 'Is that what the build''s knowledge freezes to now? false after the build, or one before it, was curated anew';
COMMENT ON COLUMN success_by_group.tasks IS 'Tasks behind the row';
COMMENT ON COLUMN success_by_group.worlds IS 'Worlds per task';
COMMENT ON COLUMN success_by_group.planner_seeds IS 'Planner seeds that play';
COMMENT ON COLUMN success_by_group.pairs IS 'Pairs of episodes that count: the same task, world and planner seed with and without knowledge';
COMMENT ON COLUMN success_by_group.excluded IS 'Pairs of which the infrastructure ended one or both, not in pairs';
COMMENT ON COLUMN success_by_group.empty_k IS 'Pairs that succeeded without knowledge';
COMMENT ON COLUMN success_by_group.empty IS 'empty_k / pairs; null without a pair, as all shares';
COMMENT ON COLUMN success_by_group.empty_low IS 'Lower end of its 95 % Wilson interval';
COMMENT ON COLUMN success_by_group.empty_high IS 'Upper end of that interval';
COMMENT ON COLUMN success_by_group.frozen_k IS 'Pairs that succeeded with the snapshot';
COMMENT ON COLUMN success_by_group.frozen IS 'frozen_k / pairs';
COMMENT ON COLUMN success_by_group.frozen_low IS 'Lower end of its 95 % Wilson interval';
COMMENT ON COLUMN success_by_group.frozen_high IS 'Upper end of that interval';
COMMENT ON COLUMN success_by_group.difference IS 'frozen - empty';
COMMENT ON COLUMN success_by_group.difference_low IS 'Lower end of its 95 % bootstrap interval; null where nothing can be drawn again';
COMMENT ON COLUMN success_by_group.difference_high IS 'Upper end of that interval';
COMMENT ON COLUMN success_by_group.drawn IS 'What the bootstrap draws again: planner seeds and tasks, tasks, or planner seeds; null where nothing';
COMMENT ON COLUMN success_by_group.only_frozen IS 'Pairs won with knowledge alone';
COMMENT ON COLUMN success_by_group.only_empty IS 'Pairs won without knowledge alone';
COMMENT ON COLUMN success_by_group.mcnemar_p IS 'McNemar''s exact test over these, two-sided; descriptive, pairs of one task or planner are not independent';
COMMENT ON COLUMN success_by_group.config_hash IS 'All that decides how an episode goes, beside its seeds and its knowledge';
COMMENT ON COLUMN success_by_group.evaluation_id IS 'Derived from the episodes of both arms and how they ended';
