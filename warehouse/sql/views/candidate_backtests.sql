-- How the conditions of every candidate that passed the checks fared on attempts that it was not drawn from, and what
-- became of it. `stands_in` leads to the entry that holds it now: its own, or the last of those it was merged into.
CREATE VIEW candidate_backtests AS
WITH RECURSIVE holder (entry_id, stands_in) AS (
    SELECT entry_id, entry_id FROM knowledge
    UNION
    SELECT h.entry_id, k.merged_into
    FROM holder AS h
    JOIN knowledge AS k ON k.entry_id = h.stands_in
    WHERE k.merged_into IS NOT NULL
),
standing AS (
    SELECT h.entry_id, h.stands_in, k.status
    FROM holder AS h
    JOIN knowledge AS k ON k.entry_id = h.stands_in
    WHERE k.merged_into IS NULL
)
SELECT
    b.build,
    b.candidate_id,
    c.entry_id,
    c.type,
    c.kind,
    c.target,
    c.failure_type,
    b.verdict,
    b.attempts,
    b.fired,
    b.episodes,
    b.hits,
    b.successes,
    b.quiet,
    b.missed,
    b.unknown,
    b."precision",
    b.precision_low,
    b.precision_high,
    b.recall,
    b.detail,
    d.verdict AS decided,
    s.stands_in,
    s.status
FROM backtests AS b
JOIN candidates AS c USING (candidate_id)
LEFT JOIN decisions AS d USING (candidate_id)
LEFT JOIN standing AS s ON s.entry_id = c.entry_id
ORDER BY b.build, c.type, c.kind, c.target, c.failure_type, b.candidate_id;

COMMENT ON VIEW candidate_backtests IS 'Do the conditions hold before what they speak of? One row per candidate that passed the checks: its back-test on attempts of episodes that it does not cite';
COMMENT ON COLUMN candidate_backtests.build IS 'The build that it was proposed in; attempts of this build and of those before it are asked';
COMMENT ON COLUMN candidate_backtests.candidate_id IS 'The candidate';
COMMENT ON COLUMN candidate_backtests.entry_id IS 'The entry that it proposes';
COMMENT ON COLUMN candidate_backtests.type IS 'skill or remedy';
COMMENT ON COLUMN candidate_backtests.kind IS 'Kind of subgoal that it is about';
COMMENT ON COLUMN candidate_backtests.target IS 'What that subgoal is about';
COMMENT ON COLUMN candidate_backtests.failure_type IS 'The failure that a remedy is for; null for a skill';
COMMENT ON COLUMN candidate_backtests.verdict IS 'passed, rejected or undecided; rejected keeps a new entry out of the store and no other';
COMMENT ON COLUMN candidate_backtests.attempts IS 'Decided attempts at its action in episodes that it does not cite';
COMMENT ON COLUMN candidate_backtests.fired IS 'Those before which all its conditions held';
COMMENT ON COLUMN candidate_backtests.episodes IS 'Episodes in which it fired';
COMMENT ON COLUMN candidate_backtests.hits IS 'Firings that went as it says: a remedy''s failed with its failure type and for want of what it names, a skill''s succeeded';
COMMENT ON COLUMN candidate_backtests.successes IS 'Firings on attempts that succeeded';
COMMENT ON COLUMN candidate_backtests.quiet IS 'Attempts before which one of its conditions did not hold';
COMMENT ON COLUMN candidate_backtests.missed IS 'Quiet ones that went as it says all the same';
COMMENT ON COLUMN candidate_backtests.unknown IS 'Attempts whose state does not tell whether it fires';
COMMENT ON COLUMN candidate_backtests."precision" IS 'hits / fired; null where it never fired';
COMMENT ON COLUMN candidate_backtests.precision_low IS 'Lower end of the 95 % Wilson interval in which every episode weighs 1';
COMMENT ON COLUMN candidate_backtests.precision_high IS 'Upper end of that interval; below the bound the candidate is rejected';
COMMENT ON COLUMN candidate_backtests.recall IS 'hits / (hits + missed); null where there is nothing to recall';
COMMENT ON COLUMN candidate_backtests.detail IS 'The figures and the verdict''s reason in words';
COMMENT ON COLUMN candidate_backtests.decided IS 'What Curator decided of the candidate: accepted or rejected';
COMMENT ON COLUMN candidate_backtests.stands_in IS 'The entry of the store that it is in now; null where it is in none';
COMMENT ON COLUMN candidate_backtests.status IS 'Status of that entry';
