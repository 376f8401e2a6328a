-- Where attempts stall, and at what: by the 16-block cell in which the attempt ended (where it began, if the
-- end is unknown) and the subgoal. Cells without a stagnant attempt are left out.
CREATE VIEW stagnation_hotspots AS
WITH placed AS (
    SELECT
        o.*,
        CASE WHEN a.state_after.x IS NOT NULL THEN a.state_after ELSE a.state_before END AS place
    FROM attempt_outcomes AS o
    JOIN attempts AS a USING (episode_id, attempt)
)
SELECT
    source,
    CAST(floor(place.x / 16) * 16 AS INTEGER) AS cell_x,
    CAST(floor(place.y / 16) * 16 AS INTEGER) AS cell_y,
    CAST(floor(place.z / 16) * 16 AS INTEGER) AS cell_z,
    CAST(floor(place.x / 128) * 128 AS INTEGER) AS region_x,
    CAST(floor(place.z / 128) * 128 AS INTEGER) AS region_z,
    kind,
    target,
    count(*) AS attempts,
    count(*) FILTER (WHERE stagnant) AS stagnant,
    count(*) FILTER (WHERE stagnant_paper) AS stagnant_paper,
    count(*) FILTER (WHERE deadlock) AS deadlocks,
    count(*) FILTER (WHERE stagnant) / nullif(count(stagnant), 0) AS share,
    avg(progress) AS mean_progress,
    sum(duration_ticks) FILTER (WHERE stagnant) AS stagnant_ticks,
    mode(failure_type ORDER BY failure_type) FILTER (WHERE stagnant) AS failure_type
FROM placed
GROUP BY source, cell_x, cell_y, cell_z, region_x, region_z, kind, target
HAVING count(*) FILTER (WHERE stagnant OR stagnant_paper) > 0
ORDER BY stagnant DESC, attempts DESC, source, cell_x, cell_y, cell_z, kind, target;

COMMENT ON VIEW stagnation_hotspots IS 'Where do attempts get stuck, and at what? One row per source, 16-block cell and subgoal with a stagnant attempt';
COMMENT ON COLUMN stagnation_hotspots.source IS 'The import or batch of rollouts';
COMMENT ON COLUMN stagnation_hotspots.cell_x IS 'Lowest x of the 16-block cell, blocks; null when the position is unknown';
COMMENT ON COLUMN stagnation_hotspots.cell_y IS 'Lowest y of the cell, blocks';
COMMENT ON COLUMN stagnation_hotspots.cell_z IS 'Lowest z of the cell, blocks';
COMMENT ON COLUMN stagnation_hotspots.region_x IS 'Lowest x of the 128-block region around the cell, blocks';
COMMENT ON COLUMN stagnation_hotspots.region_z IS 'Lowest z of the region, blocks';
COMMENT ON COLUMN stagnation_hotspots.kind IS 'Kind of subgoal';
COMMENT ON COLUMN stagnation_hotspots.target IS 'What the subgoal is about';
COMMENT ON COLUMN stagnation_hotspots.attempts IS 'Attempts at this subgoal that ended here';
COMMENT ON COLUMN stagnation_hotspots.stagnant IS 'Attempts among them that stagnated';
COMMENT ON COLUMN stagnation_hotspots.stagnant_paper IS 'Attempts among them that stagnated by eq. 3 alone';
COMMENT ON COLUMN stagnation_hotspots.deadlocks IS 'Attempts among them that ended a deadlock';
COMMENT ON COLUMN stagnation_hotspots.share IS 'stagnant / attempts for which stagnation is known';
COMMENT ON COLUMN stagnation_hotspots.mean_progress IS 'Mean p of eq. 2 over the attempts where it is known';
COMMENT ON COLUMN stagnation_hotspots.stagnant_ticks IS 'Game ticks spent in the stagnant attempts';
COMMENT ON COLUMN stagnation_hotspots.failure_type IS 'The most frequent failure type of the stagnant attempts';
