-- One row per attempt with the episode it belongs to, what Monitor says of it, and how it counts.
CREATE VIEW attempt_outcomes AS
SELECT
    e.build,
    e.source_name AS source,
    coalesce(e.task_id, e.goal) AS task,
    a.episode_id,
    a.attempt,
    f.feedback_id,
    a.condition AS subgoal,
    a.kind,
    a.target,
    CASE
        WHEN a.end_reason = 'infrastructure' OR f.failure_type = 'INFRASTRUCTURE' THEN 'infrastructure'
        WHEN a.success IS NULL THEN 'undecided'
        WHEN a.success THEN 'success'
        ELSE 'failure'
    END AS outcome,
    f.failure_type,
    f.progress,
    f.stagnant,
    f.stagnant_paper,
    f.deadlock,
    a.end_tick - a.start_tick AS duration_ticks,
    coalesce(a.source, e.source) AS file
FROM attempts AS a
JOIN episodes AS e USING (episode_id)
LEFT JOIN feedback AS f USING (episode_id, attempt);

COMMENT ON VIEW attempt_outcomes IS 'How did each attempt count? One row per attempt: whose it is, its outcome, what Monitor says';
COMMENT ON COLUMN attempt_outcomes.build IS 'The build';
COMMENT ON COLUMN attempt_outcomes.source IS 'The import or batch of rollouts that brought the episode';
COMMENT ON COLUMN attempt_outcomes.task IS 'The task''s id, or its words where it has none';
COMMENT ON COLUMN attempt_outcomes.episode_id IS 'The episode';
COMMENT ON COLUMN attempt_outcomes.attempt IS 'The subgoal attempt in the episode, from 0';
COMMENT ON COLUMN attempt_outcomes.feedback_id IS 'Its feedback; null when Monitor has not seen it';
COMMENT ON COLUMN attempt_outcomes.subgoal IS 'The subgoal in words';
COMMENT ON COLUMN attempt_outcomes.kind IS 'mine, craft, smelt, use, combat, move or wait; null when the words name none';
COMMENT ON COLUMN attempt_outcomes.target IS 'What it is about: a name or #tag of the domain';
COMMENT ON COLUMN attempt_outcomes.outcome IS 'success or failure by evidence; undecided when the evidence cannot tell; infrastructure when the environment failed';
COMMENT ON COLUMN attempt_outcomes.failure_type IS 'The first failure type that the evidence supports; NONE for a success';
COMMENT ON COLUMN attempt_outcomes.progress IS 'p of eq. 2, 0-1';
COMMENT ON COLUMN attempt_outcomes.stagnant IS 'Did not succeed and did not move on';
COMMENT ON COLUMN attempt_outcomes.stagnant_paper IS 'The same by eq. 3 alone';
COMMENT ON COLUMN attempt_outcomes.deadlock IS 'This attempt ends a deadlock: the same failure again and again over several subgoals';
COMMENT ON COLUMN attempt_outcomes.duration_ticks IS 'Game ticks, 20 a second; null when unknown';
COMMENT ON COLUMN attempt_outcomes.file IS 'The recording it was read from, relative to the imported folder';
