-- What unsuccessful attempts fail of, per source and kind. `failure_type` is the first cause in the order of
-- the cascade; `as_cause` counts it wherever the evidence supports it, so the order hides nothing.
CREATE VIEW failure_mix AS
WITH failed AS (
    SELECT source, kind, failure_type, episode_id, attempt
    FROM attempt_outcomes
    WHERE outcome IN ('failure', 'infrastructure')
),
-- An attempt's type, and each of its causes once.
findings AS (
    SELECT source, kind, failure_type, episode_id, attempt, true AS first, false AS cause
    FROM failed
    UNION ALL
    SELECT DISTINCT source, kind, one.cause.type, episode_id, attempt, false, true
    FROM failed
    JOIN feedback USING (episode_id, attempt), unnest(failure_causes) AS one (cause)
),
counted AS (
    SELECT
        source,
        kind,
        failure_type,
        count(*) FILTER (WHERE first) AS attempts,
        count(*) FILTER (WHERE cause) AS as_cause
    FROM findings
    GROUP BY source, kind, failure_type
)
SELECT
    source,
    kind,
    failure_type,
    attempts,
    CAST(sum(attempts) OVER (PARTITION BY source, kind) AS BIGINT) AS of_attempts,
    attempts / sum(attempts) OVER (PARTITION BY source, kind) AS share,
    as_cause
FROM counted
ORDER BY source, kind, attempts DESC, as_cause DESC, failure_type;

COMMENT ON VIEW failure_mix IS 'What do attempts fail of? One row per source, kind and failure type';
COMMENT ON COLUMN failure_mix.source IS 'The import or batch of rollouts';
COMMENT ON COLUMN failure_mix.kind IS 'Kind of subgoal; null where the words name none';
COMMENT ON COLUMN failure_mix.failure_type IS 'The failure type; null for attempts that Monitor has not typed';
COMMENT ON COLUMN failure_mix.attempts IS 'Unsuccessful attempts with this type, environment failures included';
COMMENT ON COLUMN failure_mix.of_attempts IS 'All unsuccessful attempts of this source and kind';
COMMENT ON COLUMN failure_mix.share IS 'attempts / of_attempts';
COMMENT ON COLUMN failure_mix.as_cause IS 'Unsuccessful attempts whose evidence supports this type, first or not';
