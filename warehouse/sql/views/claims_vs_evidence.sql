-- What the agent or its recording says of an attempt, beside what the inventory shows. One row per attempt of
-- which something was said; `verdict` names who is right by evidence.
CREATE VIEW claims_vs_evidence AS
WITH statements AS (
    -- The agent's last claim in the attempt, in its own words.
    SELECT episode_id, attempt, arg_max(text, (tick, seq)) AS message, arg_max(tick, (tick, seq)) AS tick
    FROM events
    WHERE signal IN ('claim', 'claim_have')
    GROUP BY episode_id, attempt
),
held AS (
    SELECT
        episode_id,
        attempt,
        list_sum([one.count FOR one IN state_before.inventory IF one.name = target]) AS before,
        list_sum([one.count FOR one IN state_after.inventory IF one.name = target]) AS after
    FROM attempts
)
SELECT
    o.build,
    o.source,
    o.task,
    o.episode_id,
    o.attempt,
    o.subgoal,
    o.target,
    a.claimed,
    a.label,
    a.label_basis,
    a.success,
    CASE
        WHEN a.success IS NULL THEN 'undecided'
        WHEN a.claimed AND NOT a.success THEN 'claimed without evidence'
        WHEN a.label AND NOT a.success THEN 'labelled done without evidence'
        WHEN NOT a.label AND a.success THEN 'labelled failed against evidence'
        WHEN NOT a.claimed AND a.success THEN 'done without a claim'
        ELSE 'agrees'
    END AS verdict,
    a.needed,
    a.gained,
    CASE WHEN a.state_before.inventory IS NOT NULL AND a.target NOT LIKE '#%' THEN coalesce(held.before, 0) END
        AS held_before,
    CASE WHEN a.state_after.inventory IS NOT NULL AND a.target NOT LIKE '#%' THEN coalesce(held.after, 0) END
        AS held_after,
    list_aggregate(
        list_transform(f.delta_inventory, lambda one: printf('%+d %s', one.count, one.name)), 'string_agg', ', '
    ) AS inventory_change,
    s.message,
    s.tick AS message_tick,
    o.file
FROM attempt_outcomes AS o
JOIN attempts AS a USING (episode_id, attempt)
JOIN held USING (episode_id, attempt)
LEFT JOIN feedback AS f USING (episode_id, attempt)
LEFT JOIN statements AS s USING (episode_id, attempt)
WHERE a.claimed IS NOT NULL OR a.label IS NOT NULL
ORDER BY o.build, o.source, o.episode_id, o.attempt;

COMMENT ON VIEW claims_vs_evidence IS 'Is what was said true? One row per attempt with a claim or a label, beside what the inventory shows';
COMMENT ON COLUMN claims_vs_evidence.build IS 'The build';
COMMENT ON COLUMN claims_vs_evidence.source IS 'The import or batch of rollouts';
COMMENT ON COLUMN claims_vs_evidence.task IS 'The task''s id, or its words where it has none';
COMMENT ON COLUMN claims_vs_evidence.episode_id IS 'The episode';
COMMENT ON COLUMN claims_vs_evidence.attempt IS 'The subgoal attempt in the episode, from 0';
COMMENT ON COLUMN claims_vs_evidence.subgoal IS 'The subgoal in words';
COMMENT ON COLUMN claims_vs_evidence.target IS 'What was asked for: a name or #tag of the domain';
COMMENT ON COLUMN claims_vs_evidence.claimed IS 'Did the agent say that the asked result exists';
COMMENT ON COLUMN claims_vs_evidence.label IS 'What the recording''s own label says; null without one';
COMMENT ON COLUMN claims_vs_evidence.label_basis IS 'exact, or task_text where the label is of the task and not of this very attempt';
COMMENT ON COLUMN claims_vs_evidence.success IS 'By evidence alone; null when it cannot decide';
COMMENT ON COLUMN claims_vs_evidence.verdict IS 'agrees, or what contradicts the evidence; undecided when there is none';
COMMENT ON COLUMN claims_vs_evidence.needed IS 'How many were asked for';
COMMENT ON COLUMN claims_vs_evidence.gained IS 'How many of the target the evidence shows; items that count for it included';
COMMENT ON COLUMN claims_vs_evidence.held_before IS 'Items of exactly the target''s name held before; null for a #tag or an unseen inventory';
COMMENT ON COLUMN claims_vs_evidence.held_after IS 'The same after the attempt';
COMMENT ON COLUMN claims_vs_evidence.inventory_change IS 'Net change of every item over the attempt, in words; null without one or when unseen';
COMMENT ON COLUMN claims_vs_evidence.message IS 'The agent''s last claim in the attempt, as recorded';
COMMENT ON COLUMN claims_vs_evidence.message_tick IS 'When it was said, game ticks since the start of the episode';
COMMENT ON COLUMN claims_vs_evidence.file IS 'The recording, relative to the imported folder';
