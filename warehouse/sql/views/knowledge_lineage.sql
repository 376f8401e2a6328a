-- From an entry back to the recording: entry -> decision -> candidate -> feedback -> attempt -> episode. An
-- entry that was made by a merge leads to the candidates of everything that went into it. Every piece of
-- evidence has at least one row; its decision and candidate are null when no accepted candidate cites it.
CREATE VIEW knowledge_lineage AS
WITH RECURSIVE ancestry (entry_id, ancestor_id) AS (
    SELECT entry_id, entry_id FROM knowledge
    UNION
    SELECT a.entry_id, parent.entry_id
    FROM ancestry AS a
    JOIN knowledge AS k ON k.entry_id = a.ancestor_id, unnest(k.merged_from) AS parent (entry_id)
),
proposals AS (
    SELECT DISTINCT a.entry_id, d.decision_id, d.build AS decided_in, c.candidate_id, c.engine, cited.feedback_id
    FROM ancestry AS a
    JOIN decisions AS d
        ON d.verdict = 'accepted' AND (d.entry_id = a.ancestor_id OR d.merged_into = a.ancestor_id)
    JOIN candidates AS c USING (candidate_id), unnest(c.support) AS cited (feedback_id)
)
SELECT
    s.entry_id,
    k.type,
    k.kind,
    k.target,
    k.status,
    k.confidence,
    p.decision_id,
    p.decided_in,
    p.candidate_id,
    p.engine,
    s.feedback_id,
    s.episode_id,
    f.attempt,
    e.build,
    e.source_name AS source,
    coalesce(a.source, e.source) AS file,
    a.start_tick,
    a.end_tick,
    f.failure_type,
    coalesce(f.failure_evidence.tick, CASE WHEN f.y THEN a.end_tick END) AS evidence_tick,
    f.failure_evidence.seq AS evidence_seq,
    coalesce(f.failure_evidence.text, event.text) AS evidence_text
FROM knowledge_support AS s
JOIN knowledge AS k USING (entry_id)
LEFT JOIN proposals AS p ON p.entry_id = s.entry_id AND p.feedback_id = s.feedback_id
LEFT JOIN feedback AS f ON f.feedback_id = s.feedback_id
LEFT JOIN attempts AS a ON a.episode_id = f.episode_id AND a.attempt = f.attempt
LEFT JOIN episodes AS e ON e.episode_id = s.episode_id
LEFT JOIN events AS event
    ON event.episode_id = f.episode_id
    AND event.attempt = f.attempt
    AND event.seq = f.failure_evidence.seq
    AND event.tick = f.failure_evidence.tick
ORDER BY s.entry_id, p.decided_in, p.candidate_id, s.episode_id, f.attempt;

COMMENT ON VIEW knowledge_lineage IS 'What does an entry rest on? One row per entry, accepted candidate and piece of evidence, down to the place in the recording';
COMMENT ON COLUMN knowledge_lineage.entry_id IS 'The entry';
COMMENT ON COLUMN knowledge_lineage.type IS 'skill or remedy';
COMMENT ON COLUMN knowledge_lineage.kind IS 'Kind of subgoal that it is about';
COMMENT ON COLUMN knowledge_lineage.target IS 'What that subgoal is about';
COMMENT ON COLUMN knowledge_lineage.status IS 'active, demoted, merged, retired, or withdrawn by a rollback';
COMMENT ON COLUMN knowledge_lineage.confidence IS 'Mean of its Beta posterior, 0-1';
COMMENT ON COLUMN knowledge_lineage.decision_id IS 'The decision that let the candidate in';
COMMENT ON COLUMN knowledge_lineage.decided_in IS 'The build of that decision';
COMMENT ON COLUMN knowledge_lineage.candidate_id IS 'The candidate that cites the evidence';
COMMENT ON COLUMN knowledge_lineage.engine IS 'Who proposed the candidate';
COMMENT ON COLUMN knowledge_lineage.feedback_id IS 'The feedback row';
COMMENT ON COLUMN knowledge_lineage.episode_id IS 'The episode';
COMMENT ON COLUMN knowledge_lineage.attempt IS 'The subgoal attempt in the episode, from 0';
COMMENT ON COLUMN knowledge_lineage.build IS 'The episode''s build';
COMMENT ON COLUMN knowledge_lineage.source IS 'The import or batch of rollouts that brought the episode';
COMMENT ON COLUMN knowledge_lineage.file IS 'The recording, relative to the imported folder';
COMMENT ON COLUMN knowledge_lineage.start_tick IS 'First game tick of the attempt';
COMMENT ON COLUMN knowledge_lineage.end_tick IS 'Last game tick of the attempt';
COMMENT ON COLUMN knowledge_lineage.failure_type IS 'The failure type of the attempt; NONE for a success';
COMMENT ON COLUMN knowledge_lineage.evidence_tick IS 'Where the failure shows; for a success the end of the attempt';
COMMENT ON COLUMN knowledge_lineage.evidence_seq IS 'The event there, by its position in the attempt; null when it was no event';
COMMENT ON COLUMN knowledge_lineage.evidence_text IS 'The words there, as recorded';
