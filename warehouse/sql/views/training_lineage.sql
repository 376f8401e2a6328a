-- With which knowledge each trained build was played, and what the build before it knows now. Materializing a
-- build again never changes what a later one was made from; this shows which later ones are of an old generation.
CREATE VIEW training_lineage AS
WITH played AS (
    SELECT build, snapshot_id AS trained_with, count(*) AS episodes
    FROM episodes
    WHERE source_name = 'training'
    GROUP BY build, snapshot_id
),
handed_on AS (
    SELECT
        build,
        snapshot_id,
        lag(build) OVER (ORDER BY build) AS build_before,
        lag(snapshot_id) OVER (ORDER BY build) AS snapshot_before
    FROM builds
)
SELECT
    h.build,
    p.episodes,
    p.trained_with,
    h.build_before,
    h.snapshot_before,
    p.trained_with IS DISTINCT FROM h.snapshot_before AS is_stale,
    h.snapshot_id
FROM handed_on AS h
JOIN played AS p USING (build)
ORDER BY h.build, p.trained_with;

COMMENT ON VIEW training_lineage IS 'Which knowledge was each build trained with, and is it still what the build before knows? One row per build and snapshot';
COMMENT ON COLUMN training_lineage.build IS 'The build that was trained';
COMMENT ON COLUMN training_lineage.episodes IS 'Training episodes played with this snapshot';
COMMENT ON COLUMN training_lineage.trained_with IS 'The snapshot that they were played with; null for none';
COMMENT ON COLUMN training_lineage.build_before IS 'The build before it; null for the first';
COMMENT ON COLUMN training_lineage.snapshot_before IS 'The snapshot that the knowledge of that build freezes to now';
COMMENT ON COLUMN training_lineage.is_stale IS 'Do the two differ? Then the build before was materialized again since; training this one again plays it with the new one';
COMMENT ON COLUMN training_lineage.snapshot_id IS 'The snapshot that this build''s own knowledge freezes to';
