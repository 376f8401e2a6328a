-- What frozen evaluations came to, as success_rates logs it: no row per episode (those stay below evaluation/),
-- but one per level and arm. The first version of the table was never filled.
DROP TABLE evaluations;

CREATE TABLE evaluations (
    evaluation_id VARCHAR NOT NULL,
    build VARCHAR NOT NULL,
    task_group VARCHAR NOT NULL,
    difficulty VARCHAR,
    level VARCHAR NOT NULL,
    task_id VARCHAR,
    planner_seed BIGINT,
    arm VARCHAR NOT NULL,
    snapshot_id VARCHAR,
    config_hash VARCHAR NOT NULL,
    tasks INTEGER NOT NULL,
    worlds INTEGER NOT NULL,
    planner_seeds INTEGER NOT NULL,
    k INTEGER NOT NULL,
    n INTEGER NOT NULL,
    excluded INTEGER NOT NULL,
    low DOUBLE,
    high DOUBLE,
    only_frozen INTEGER,
    only_empty INTEGER,
    mcnemar_p DOUBLE,
    difference DOUBLE,
    difference_low DOUBLE,
    difference_high DOUBLE,
    drawn VARCHAR
);
