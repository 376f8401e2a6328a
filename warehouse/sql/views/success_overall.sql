-- The groups of a build together: means of the groups' shares, weighted by their tasks. Groups go together that
-- were evaluated in the same way (snapshot, configuration, worlds and planner seeds per task); of several such
-- evaluations of one group that with the most tasks counts. An interval for the difference needs the pairs, not
-- these sums: `mineevolve evaluate` prints it.
CREATE VIEW success_overall AS
WITH counting AS (
    FROM success_by_group
    WHERE pairs > 0
    QUALIFY row_number() OVER (
        PARTITION BY build, task_group, snapshot_id, config_hash, worlds, planner_seeds
        ORDER BY tasks DESC, evaluation_id
    ) = 1
)
SELECT
    build,
    coalesce(difficulty, 'all') AS level,
    snapshot_id,
    bool_and(is_current) AS is_current,
    list(task_group ORDER BY task_group) AS task_groups,
    sum(tasks)::BIGINT AS tasks,
    worlds,
    planner_seeds,
    sum(pairs)::BIGINT AS pairs,
    sum(excluded)::BIGINT AS excluded,
    sum(empty * tasks) / sum(tasks) AS empty,
    sum(frozen * tasks) / sum(tasks) AS frozen,
    sum(difference * tasks) / sum(tasks) AS difference,
    sum(only_frozen)::BIGINT AS only_frozen,
    sum(only_empty)::BIGINT AS only_empty,
    config_hash
FROM counting
GROUP BY GROUPING SETS (
    (build, snapshot_id, config_hash, worlds, planner_seeds),
    (build, snapshot_id, config_hash, worlds, planner_seeds, difficulty)
)
-- A group without a level of difficulty counts in the row of all and in no other.
HAVING grouping(difficulty) = 1 OR difficulty IS NOT NULL
ORDER BY build, snapshot_id, config_hash, worlds, planner_seeds, grouping(difficulty) DESC, level;

COMMENT ON VIEW success_overall IS 'Does frozen knowledge help over all? One row per build, way of evaluating and level of difficulty, weighted by tasks';
COMMENT ON COLUMN success_overall.build IS 'The build whose snapshot was evaluated';
COMMENT ON COLUMN success_overall.level IS 'all, or easy or hard, as the suite says of its groups';
COMMENT ON COLUMN success_overall.snapshot_id IS 'The frozen knowledge';
COMMENT ON COLUMN success_overall.is_current IS 'Is that what the build''s knowledge freezes to now?';
COMMENT ON COLUMN success_overall.task_groups IS 'The groups that were evaluated; a level says nothing of those that are missing';
COMMENT ON COLUMN success_overall.tasks IS 'Tasks in these groups, by which their shares are weighted';
COMMENT ON COLUMN success_overall.worlds IS 'Worlds per task';
COMMENT ON COLUMN success_overall.planner_seeds IS 'Planner seeds that play';
COMMENT ON COLUMN success_overall.pairs IS 'Pairs of episodes that count';
COMMENT ON COLUMN success_overall.excluded IS 'Pairs of which the infrastructure ended one or both, not in pairs';
COMMENT ON COLUMN success_overall.empty IS 'Mean share of successes without knowledge, weighted by tasks';
COMMENT ON COLUMN success_overall.frozen IS 'Mean share of successes with the snapshot, weighted by tasks';
COMMENT ON COLUMN success_overall.difference IS 'frozen - empty';
COMMENT ON COLUMN success_overall.only_frozen IS 'Pairs won with knowledge alone';
COMMENT ON COLUMN success_overall.only_empty IS 'Pairs won without knowledge alone';
COMMENT ON COLUMN success_overall.config_hash IS 'All that decides how an episode goes, beside its seeds and its knowledge';
