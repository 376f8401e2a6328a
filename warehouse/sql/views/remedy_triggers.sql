-- The attempts after which a remedy is due (eq. 5), why, and what became of it.
CREATE VIEW remedy_triggers AS
WITH proposed AS (
    SELECT cited.feedback_id, count(*) AS candidates
    FROM candidates AS c, unnest(c.support) AS cited (feedback_id)
    WHERE c.type = 'remedy'
    GROUP BY cited.feedback_id
),
resting AS (
    SELECT s.feedback_id, count(*) AS active_entries
    FROM knowledge_support AS s
    JOIN knowledge AS k USING (entry_id)
    WHERE k.type = 'remedy' AND k.status IN ('active', 'demoted')
    GROUP BY s.feedback_id
)
SELECT
    o.build,
    o.source,
    o.task,
    o.episode_id,
    o.attempt,
    o.feedback_id,
    o.subgoal,
    o.kind,
    o.target,
    o.failure_type,
    CASE
        -- The rate alone cannot tell the threshold that the run was made with; stagnation alone suffices for
        -- eq. 5, so what is due without it is due by the rate.
        WHEN f.stagnant THEN 'stagnation'
        ELSE 'failure rate'
    END AS trigger,
    f.window_failure_rate,
    f.stagnant,
    f.stagnant_paper,
    f.deadlock,
    CASE
        WHEN len(f.failure_evidence.items) > 0 THEN [one.name FOR one IN f.failure_evidence.items]
        WHEN f.failure_type IN ('MISSING_STATION', 'MISSING_TOOL', 'NO_FUEL', 'MISSING_INGREDIENT')
            AND f.failure_evidence.name IS NOT NULL THEN [f.failure_evidence.name]
    END AS short_of,
    f.failure_evidence.tick AS evidence_tick,
    f.failure_evidence.text AS evidence_text,
    coalesce(p.candidates, 0) AS candidates,
    coalesce(r.active_entries, 0) AS active_entries
FROM attempt_outcomes AS o
JOIN feedback AS f USING (feedback_id)
LEFT JOIN proposed AS p USING (feedback_id)
LEFT JOIN resting AS r USING (feedback_id)
WHERE f.remedy_due
ORDER BY o.build, o.source, o.episode_id, o.attempt;

COMMENT ON VIEW remedy_triggers IS 'When was a remedy due, why, and what came of it? One row per attempt after which one was due';
COMMENT ON COLUMN remedy_triggers.build IS 'The build';
COMMENT ON COLUMN remedy_triggers.source IS 'The import or batch of rollouts';
COMMENT ON COLUMN remedy_triggers.task IS 'The task''s id, or its words where it has none';
COMMENT ON COLUMN remedy_triggers.episode_id IS 'The episode';
COMMENT ON COLUMN remedy_triggers.attempt IS 'The subgoal attempt in the episode, from 0';
COMMENT ON COLUMN remedy_triggers.feedback_id IS 'The feedback that made it due';
COMMENT ON COLUMN remedy_triggers.subgoal IS 'The subgoal in words';
COMMENT ON COLUMN remedy_triggers.kind IS 'Kind of subgoal';
COMMENT ON COLUMN remedy_triggers.target IS 'What the subgoal is about';
COMMENT ON COLUMN remedy_triggers.failure_type IS 'The first failure type that the evidence supports';
COMMENT ON COLUMN remedy_triggers.trigger IS 'stagnation, or failure rate where only the window of attempts makes it due';
COMMENT ON COLUMN remedy_triggers.window_failure_rate IS 'Share of failures in the last h attempts; null before there are h';
COMMENT ON COLUMN remedy_triggers.stagnant IS 'Did not succeed and did not move on';
COMMENT ON COLUMN remedy_triggers.stagnant_paper IS 'The same by eq. 3 alone';
COMMENT ON COLUMN remedy_triggers.deadlock IS 'This attempt ends a deadlock';
COMMENT ON COLUMN remedy_triggers.short_of IS 'What the evidence says was short; null when it says nothing or nothing was';
COMMENT ON COLUMN remedy_triggers.evidence_tick IS 'Where the failure shows, game ticks since the start of the episode';
COMMENT ON COLUMN remedy_triggers.evidence_text IS 'The words there, as recorded';
COMMENT ON COLUMN remedy_triggers.candidates IS 'Remedies proposed that cite this feedback';
COMMENT ON COLUMN remedy_triggers.active_entries IS 'Remedies of the store that rest on it and are served, active or demoted';
