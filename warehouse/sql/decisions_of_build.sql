-- What Curator decided in one build, with its reasons in words.
SELECT
    d.verdict,
    c.type,
    c.kind,
    c.target,
    c.failure_type,
    list_aggregate([r.rule || ': ' || r.detail FOR r IN d.reasons], 'string_agg', '; ') AS reasons,
    d.merged_into,
    d.candidate_id,
    d.entry_id
FROM decisions AS d
LEFT JOIN candidates AS c USING (candidate_id)
WHERE d.build = $1
ORDER BY d.verdict, c.type, c.kind, c.target, c.failure_type, d.candidate_id
