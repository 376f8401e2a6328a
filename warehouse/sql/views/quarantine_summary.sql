-- What could not be read, and what was left out on purpose, per reason.
CREATE VIEW quarantine_summary AS
SELECT
    build,
    source_name AS source,
    source AS format,
    severity,
    reason,
    count(DISTINCT path) AS files,
    count(*) AS places,
    sum(kept_of_file) AS kept,
    sum(size_of_file) AS bytes,
    min(path) AS example
FROM (
    SELECT
        *,
        -- Figures of the file stand on each of its rows; they are counted on its first.
        CASE WHEN nth = 1 THEN kept END AS kept_of_file,
        CASE WHEN nth = 1 THEN size END AS size_of_file
    FROM (
        SELECT
            *,
            row_number() OVER (
                PARTITION BY build, source_name, source, severity, reason, path ORDER BY position
            ) AS nth
        FROM quarantine
    )
)
GROUP BY build, source_name, source, severity, reason
ORDER BY build, source, format, severity DESC, files DESC, reason;

COMMENT ON VIEW quarantine_summary IS 'What could not be read, and why? One row per build, source, severity and reason';
COMMENT ON COLUMN quarantine_summary.build IS 'The build';
COMMENT ON COLUMN quarantine_summary.source IS 'The import';
COMMENT ON COLUMN quarantine_summary.format IS 'The format it was read as';
COMMENT ON COLUMN quarantine_summary.severity IS 'quarantined, or ignored for known side files';
COMMENT ON COLUMN quarantine_summary.reason IS 'Why';
COMMENT ON COLUMN quarantine_summary.files IS 'Files concerned';
COMMENT ON COLUMN quarantine_summary.places IS 'Places in them; the table quarantine has each with its byte offset';
COMMENT ON COLUMN quarantine_summary.kept IS 'Records of these files that were readable and kept';
COMMENT ON COLUMN quarantine_summary.bytes IS 'Size of these files; null when unknown';
COMMENT ON COLUMN quarantine_summary.example IS 'One of the files, relative to the imported folder';
