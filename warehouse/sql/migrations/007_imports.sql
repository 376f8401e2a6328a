-- Evidence that came with imported knowledge.
CREATE TABLE imports (
    build VARCHAR NOT NULL,
    file_id VARCHAR NOT NULL,
    snapshot_id VARCHAR NOT NULL,
    feedback_id VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    record VARCHAR NOT NULL
);
