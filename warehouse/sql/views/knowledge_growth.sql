-- How the store grows from build to build.
CREATE VIEW knowledge_growth AS
WITH proposed AS (
    SELECT build, count(*) AS candidates FROM candidates GROUP BY build
),
decided AS (
    SELECT
        build,
        count(*) FILTER (WHERE verdict = 'accepted') AS accepted,
        count(*) FILTER (WHERE verdict = 'rejected') AS rejected,
        count(*) FILTER (WHERE merged_into IS NOT NULL) AS merged
    FROM decisions
    -- Decisions on entries that were retired later have no candidate.
    WHERE candidate_id <> entry_id
    GROUP BY build
),
standing AS (
    SELECT b.build, v.entry_id, arg_max(v.status, v.build) AS status, arg_max(v.confidence, v.build) AS confidence
    FROM builds AS b
    JOIN knowledge_versions AS v ON v.build <= b.build
    GROUP BY b.build, v.entry_id
),
active AS (
    SELECT
        build,
        count(*) FILTER (WHERE status = 'active') AS active,
        count(*) FILTER (WHERE status = 'demoted') AS demoted,
        count(*) FILTER (WHERE status = 'retired') AS retired,
        avg(confidence) FILTER (WHERE status = 'active') AS mean_confidence
    FROM standing
    GROUP BY build
)
SELECT
    b.build,
    coalesce(p.candidates, 0) AS candidates,
    coalesce(d.accepted, 0) AS accepted,
    coalesce(d.rejected, 0) AS rejected,
    coalesce(d.merged, 0) AS merged,
    coalesce(a.active, 0) AS active,
    coalesce(a.demoted, 0) AS demoted,
    coalesce(a.retired, 0) AS retired,
    a.mean_confidence,
    b.snapshot_id
FROM builds AS b
LEFT JOIN proposed AS p USING (build)
LEFT JOIN decided AS d USING (build)
LEFT JOIN active AS a USING (build)
ORDER BY b.build;

COMMENT ON VIEW knowledge_growth IS 'How does the store grow? One row per build';
COMMENT ON COLUMN knowledge_growth.build IS 'The build';
COMMENT ON COLUMN knowledge_growth.candidates IS 'Candidates proposed from its feedback';
COMMENT ON COLUMN knowledge_growth.accepted IS 'Candidates that Curator accepted';
COMMENT ON COLUMN knowledge_growth.rejected IS 'Candidates that Curator rejected; decisions has the reasons';
COMMENT ON COLUMN knowledge_growth.merged IS 'Candidates that went into another entry';
COMMENT ON COLUMN knowledge_growth.active IS 'Active entries after the build';
COMMENT ON COLUMN knowledge_growth.demoted IS 'Demoted entries after the build: served, behind what is active';
COMMENT ON COLUMN knowledge_growth.retired IS 'Retired entries after the build, in all';
COMMENT ON COLUMN knowledge_growth.mean_confidence IS 'Mean confidence of the active entries, 0-1';
COMMENT ON COLUMN knowledge_growth.snapshot_id IS 'The snapshot that the build''s knowledge freezes to';
