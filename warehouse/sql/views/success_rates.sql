-- Success by evidence, counted over all attempts and within each source, task, kind and target. Attempts that
-- the evidence does not decide, and those whose environment failed, are shown and stay out of n.
CREATE VIEW success_rates AS
WITH counted AS (
    SELECT
        CASE
            WHEN grouping(source) = 1 AND grouping(task) = 1 AND grouping(kind) = 1 THEN 'all'
            ELSE concat_ws(
                '+',
                CASE WHEN grouping(source) = 0 THEN 'source' END,
                CASE WHEN grouping(task) = 0 THEN 'task' END,
                CASE WHEN grouping(target) = 0 THEN 'target' WHEN grouping(kind) = 0 THEN 'kind' END
            )
        END AS level,
        source,
        task,
        kind,
        target,
        count(*) AS attempts,
        count(*) FILTER (WHERE outcome = 'success') AS k,
        count(*) FILTER (WHERE outcome IN ('success', 'failure')) AS n,
        count(*) FILTER (WHERE outcome = 'undecided') AS undecided,
        count(*) FILTER (WHERE outcome = 'infrastructure') AS infrastructure
    FROM attempt_outcomes
    GROUP BY GROUPING SETS (
        (), (source), (task), (kind), (kind, target), (source, task), (source, kind), (source, kind, target)
    )
)
SELECT
    level,
    source,
    task,
    kind,
    target,
    k,
    n,
    k / nullif(n, 0) AS rate,
    wilson_low(k, n) AS low,
    wilson_high(k, n) AS high,
    undecided,
    infrastructure,
    attempts
FROM counted
-- Over no attempts at all, the grand total would still be a row.
WHERE attempts > 0
ORDER BY level, source, task, kind, target;

COMMENT ON VIEW success_rates IS 'How often do attempts succeed? One row per group; choose the kind of group by level';
COMMENT ON COLUMN success_rates.level IS 'What the row is about: all, source, task, kind, target, source+task, source+kind or source+target; never add rows of two levels';
COMMENT ON COLUMN success_rates.source IS 'The import or batch of rollouts; null at levels without it';
COMMENT ON COLUMN success_rates.task IS 'The task''s id, or its words where it has none; null at levels without it';
COMMENT ON COLUMN success_rates.kind IS 'Kind of subgoal; null at levels without it, and where the words name none';
COMMENT ON COLUMN success_rates.target IS 'What it is about; null at levels without it, and where it is unknown';
COMMENT ON COLUMN success_rates.k IS 'Attempts that succeeded, by evidence';
COMMENT ON COLUMN success_rates.n IS 'Attempts that the evidence decides';
COMMENT ON COLUMN success_rates.rate IS 'k / n; null when nothing was decided';
COMMENT ON COLUMN success_rates.low IS 'Lower end of the 95 % Wilson interval of the rate';
COMMENT ON COLUMN success_rates.high IS 'Upper end of the 95 % Wilson interval of the rate';
COMMENT ON COLUMN success_rates.undecided IS 'Attempts that the evidence does not decide, not in n';
COMMENT ON COLUMN success_rates.infrastructure IS 'Attempts whose environment failed, not in n';
COMMENT ON COLUMN success_rates.attempts IS 'n + undecided + infrastructure';
