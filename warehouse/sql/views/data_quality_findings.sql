-- Recordings that contradict themselves, each finding with the place where it shows.
CREATE VIEW data_quality_findings AS
SELECT
    e.build,
    e.source_name AS source,
    q.finding,
    q.detail,
    q.episode_id,
    q.attempt,
    q.tick,
    a.condition AS subgoal,
    coalesce(a.source, e.source) AS file
FROM data_quality AS q
JOIN episodes AS e USING (episode_id)
LEFT JOIN attempts AS a ON a.episode_id = q.episode_id AND a.attempt = q.attempt
ORDER BY e.build, source, q.finding, q.episode_id, q.attempt, q.tick, q.detail;

COMMENT ON VIEW data_quality_findings IS 'Where does a recording contradict itself? One row per finding';
COMMENT ON COLUMN data_quality_findings.build IS 'The build';
COMMENT ON COLUMN data_quality_findings.source IS 'The import or batch of rollouts';
COMMENT ON COLUMN data_quality_findings.finding IS 'What kind of contradiction';
COMMENT ON COLUMN data_quality_findings.detail IS 'What is said where, in words';
COMMENT ON COLUMN data_quality_findings.episode_id IS 'The episode';
COMMENT ON COLUMN data_quality_findings.attempt IS 'The subgoal attempt in the episode; null when it is about the whole episode';
COMMENT ON COLUMN data_quality_findings.tick IS 'Where it shows, game ticks since the start of the episode';
COMMENT ON COLUMN data_quality_findings.subgoal IS 'The subgoal in words';
COMMENT ON COLUMN data_quality_findings.file IS 'The recording, relative to the imported folder';
