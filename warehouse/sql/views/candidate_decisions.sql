-- What became of every candidate, and why. A candidate that was reviewed several times (by several models, or beside
-- another store) was refused if one of them refused it.
CREATE VIEW candidate_decisions AS
WITH reviewed AS (
    SELECT
        candidate_id,
        CASE WHEN bool_or(verdict = 'rejected') THEN 'rejected' ELSE 'kept' END AS review,
        list_sort(list(DISTINCT model)) AS reviewers
    FROM reviews
    GROUP BY candidate_id
)

SELECT
    c.build,
    c.candidate_id,
    c.entry_id,
    c.type,
    c.kind,
    c.target,
    c.failure_type,
    c.engine,
    d.verdict,
    list_distinct([r.rule FOR r IN d.reasons]) AS rules,
    nullif(array_to_string([r.rule || ': ' || r.detail FOR r IN d.reasons], '; '), '') AS reasons,
    d.merged_into,
    d.conflict_with,
    o.review,
    o.reviewers
FROM candidates AS c
LEFT JOIN decisions AS d USING (candidate_id)
LEFT JOIN reviewed AS o USING (candidate_id)
ORDER BY c.build, d.verdict DESC, c.type, c.kind, c.target, c.failure_type, c.candidate_id;

COMMENT ON VIEW candidate_decisions IS 'What became of every candidate, and why? One row per candidate';
COMMENT ON COLUMN candidate_decisions.build IS 'The build that it was proposed in';
COMMENT ON COLUMN candidate_decisions.candidate_id IS 'The candidate';
COMMENT ON COLUMN candidate_decisions.entry_id IS 'The entry that it proposes; one that was rejected need not be in the store';
COMMENT ON COLUMN candidate_decisions.type IS 'skill or remedy';
COMMENT ON COLUMN candidate_decisions.kind IS 'Kind of subgoal that it is about';
COMMENT ON COLUMN candidate_decisions.target IS 'What that subgoal is about';
COMMENT ON COLUMN candidate_decisions.failure_type IS 'The failure that a remedy is for; null for a skill';
COMMENT ON COLUMN candidate_decisions.engine IS 'Who proposed it';
COMMENT ON COLUMN candidate_decisions.verdict IS 'accepted or rejected; null while the build is not curated';
COMMENT ON COLUMN candidate_decisions.rules IS 'The rules that it broke, each once; transient, backtest, review or tryout where it passed the checks and a gate behind them refused it';
COMMENT ON COLUMN candidate_decisions.reasons IS 'Rule and reason of each objection; a review''s begins with the model. Null where nothing is against it';
COMMENT ON COLUMN candidate_decisions.merged_into IS 'The entry that it went into, if into another';
COMMENT ON COLUMN candidate_decisions.conflict_with IS 'Entries that it contradicts';
COMMENT ON COLUMN candidate_decisions.review IS 'kept or rejected; null where nobody was asked, or no answer could be used';
COMMENT ON COLUMN candidate_decisions.reviewers IS 'The models whose verdicts there are; null for none';
