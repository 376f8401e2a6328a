-- What came of trying an entry out. A pair counts where both of its arms were decided; a situation that did not come
-- about in another world has undecided arms.
CREATE VIEW tryout_outcomes AS
WITH pairs AS (
    SELECT
        build,
        entry_id,
        situation,
        world_seed,
        any_value(success) FILTER (arm = 'with') AS with_it,
        any_value(success) FILTER (arm = 'without') AS without_it,
        sum(ticks) AS ticks
    FROM tryouts
    GROUP BY ALL
),

proposed AS (
    SELECT DISTINCT ON (entry_id)
        entry_id,
        type,
        kind,
        target,
        failure_type
    FROM candidates
    ORDER BY entry_id, candidate_id
),

refused AS (
    SELECT DISTINCT
        build,
        entry_id
    FROM decisions
    WHERE len([r FOR r IN reasons IF r.rule = 'tryout']) > 0
)

SELECT
    p.build,
    p.entry_id,
    c.type,
    c.kind,
    c.target,
    c.failure_type,
    count(*) FILTER (with_it IS NOT NULL AND without_it IS NOT NULL) AS pairs,
    count(*) FILTER (with_it AND NOT without_it) AS only_with,
    count(*) FILTER (NOT with_it AND without_it) AS only_without,
    count(*) FILTER (with_it AND without_it) AS both_arms,
    count(*) FILTER (NOT with_it AND NOT without_it) AS neither_arm,
    count(*) FILTER (with_it IS NULL OR without_it IS NULL) AS undecided,
    coalesce(
        list_sort(list(DISTINCT p.world_seed) FILTER (with_it IS NOT NULL AND without_it IS NOT NULL)), []
    ) AS world_seeds,
    sum(p.ticks)::BIGINT AS ticks,
    any_value(r.entry_id) IS NOT NULL AS refused
FROM pairs AS p
LEFT JOIN proposed AS c USING (entry_id)
LEFT JOIN refused AS r USING (build, entry_id)
GROUP BY p.build, p.entry_id, c.type, c.kind, c.target, c.failure_type
ORDER BY p.build, pairs DESC, p.entry_id;

COMMENT ON VIEW tryout_outcomes IS 'What came of carrying new knowledge out, with it and without? One row per build and entry that was tried out';
COMMENT ON COLUMN tryout_outcomes.build IS 'The build that the try-out was made for';
COMMENT ON COLUMN tryout_outcomes.entry_id IS 'The entry; one that was refused need not be in the store';
COMMENT ON COLUMN tryout_outcomes.type IS 'skill or remedy';
COMMENT ON COLUMN tryout_outcomes.kind IS 'Kind of subgoal that it is about';
COMMENT ON COLUMN tryout_outcomes.target IS 'What that subgoal is about';
COMMENT ON COLUMN tryout_outcomes.failure_type IS 'The failure that a remedy is for; null for a skill';
COMMENT ON COLUMN tryout_outcomes.pairs IS 'Pairs that were decided';
COMMENT ON COLUMN tryout_outcomes.only_with IS 'Pairs in which its goal was reached with it and not without';
COMMENT ON COLUMN tryout_outcomes.only_without IS 'Pairs in which its goal was reached without it and not with it';
COMMENT ON COLUMN tryout_outcomes.both_arms IS 'Pairs in which its goal was reached in both arms';
COMMENT ON COLUMN tryout_outcomes.neither_arm IS 'Pairs in which its goal was reached in neither';
COMMENT ON COLUMN tryout_outcomes.undecided IS 'Pairs that say nothing: the situation did not come about in that world, or its checks could not tell';
COMMENT ON COLUMN tryout_outcomes.world_seeds IS 'Seeds of the worlds of the pairs that were decided';
COMMENT ON COLUMN tryout_outcomes.ticks IS 'Game ticks of the arms, without the ways to the situations';
COMMENT ON COLUMN tryout_outcomes.refused IS 'Did Curator refuse a candidate for what came of it?';
