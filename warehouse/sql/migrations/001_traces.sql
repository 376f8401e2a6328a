-- The tables of the trace contract (warehouse/records.py), column for column, except ticks: those stay in
-- Parquet and are a view of analysis.duckdb. Where a row came from is added to episodes and quarantine; every
-- other table reaches it through its episode_id. Enums are text here, and struct types are spelt out: COPY FROM
-- DATABASE of DuckDB 2.0.1 fails on named ones. No primary keys: rows were checked before they became a shard,
-- and an index would only slow the replay.

CREATE TABLE episodes (
    episode_id VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    build VARCHAR NOT NULL,
    task_id VARCHAR,
    goal VARCHAR,
    world VARCHAR,
    world_seed BIGINT,
    agent VARCHAR,
    planner VARCHAR,
    executor VARCHAR,
    planner_seed BIGINT,
    snapshot_id VARCHAR,
    observes VARCHAR[] NOT NULL,
    horizon INTEGER,
    n_ticks INTEGER NOT NULL,
    success BOOLEAN,
    success_tick INTEGER,
    end_reason VARCHAR NOT NULL,
    config_hash VARCHAR,
    task_group VARCHAR NOT NULL,
    source_name VARCHAR NOT NULL
);

CREATE TABLE attempts (
    episode_id VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    source VARCHAR,
    plan_id VARCHAR,
    subgoal_id VARCHAR,
    condition VARCHAR,
    kind VARCHAR,
    target VARCHAR,
    needed INTEGER,
    relative BOOLEAN,
    executor_hint VARCHAR,
    mode VARCHAR,
    timeout_s FLOAT,
    checks STRUCT(type VARCHAR, name VARCHAR, value FLOAT)[],
    start_tick INTEGER,
    end_tick INTEGER,
    success BOOLEAN,
    gained INTEGER,
    claimed BOOLEAN,
    label BOOLEAN,
    label_basis VARCHAR,
    end_reason VARCHAR NOT NULL,
    state_before STRUCT(
        x FLOAT,
        y FLOAT,
        z FLOAT,
        health FLOAT,
        hunger FLOAT,
        gui VARCHAR,
        equipped VARCHAR,
        alive BOOLEAN,
        inventory STRUCT(name VARCHAR, count INTEGER)[],
        near VARCHAR[],
        seen VARCHAR[]
    ),
    state_after STRUCT(
        x FLOAT,
        y FLOAT,
        z FLOAT,
        health FLOAT,
        hunger FLOAT,
        gui VARCHAR,
        equipped VARCHAR,
        alive BOOLEAN,
        inventory STRUCT(name VARCHAR, count INTEGER)[],
        near VARCHAR[],
        seen VARCHAR[]
    ),
    knowledge_used VARCHAR[]
);

CREATE TABLE events (
    episode_id VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    tick INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    name VARCHAR,
    count INTEGER,
    text VARCHAR,
    signal VARCHAR,
    items STRUCT(name VARCHAR, count INTEGER)[]
);

CREATE TABLE sightings (
    episode_id VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    tick INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    distance FLOAT,
    in_reach BOOLEAN,
    visible BOOLEAN NOT NULL
);

CREATE TABLE inventory_changes (
    episode_id VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    tick INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    item VARCHAR NOT NULL,
    delta INTEGER NOT NULL,
    count INTEGER NOT NULL
);

CREATE TABLE feedback (
    feedback_id VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    z VARCHAR,
    y BOOLEAN,
    delta_state STRUCT(name VARCHAR, before DOUBLE, after DOUBLE)[],
    delta_inventory STRUCT(name VARCHAR, count INTEGER)[],
    failure_type VARCHAR,
    failure_causes STRUCT(
        type VARCHAR,
        tick INTEGER,
        seq INTEGER,
        name VARCHAR,
        count INTEGER,
        items STRUCT(name VARCHAR, count INTEGER)[],
        text VARCHAR
    )[],
    failure_evidence STRUCT(
        tick INTEGER,
        seq INTEGER,
        name VARCHAR,
        count INTEGER,
        items STRUCT(name VARCHAR, count INTEGER)[],
        text VARCHAR
    ),
    progress DOUBLE,
    progress_move DOUBLE,
    progress_inventory DOUBLE,
    progress_goal DOUBLE,
    progress_last DOUBLE,
    stagnant BOOLEAN,
    stagnant_paper BOOLEAN,
    loop_score DOUBLE,
    window_failure_rate DOUBLE,
    remedy_due BOOLEAN NOT NULL,
    skill_due BOOLEAN NOT NULL,
    deadlock BOOLEAN NOT NULL
);

CREATE TABLE quarantine (
    path VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    position BIGINT,
    reason VARCHAR NOT NULL,
    kept BIGINT NOT NULL,
    size BIGINT,
    severity VARCHAR NOT NULL,
    build VARCHAR NOT NULL,
    task_group VARCHAR NOT NULL,
    source_name VARCHAR NOT NULL
);

CREATE TABLE data_quality (
    episode_id VARCHAR NOT NULL,
    attempt INTEGER,
    tick INTEGER,
    finding VARCHAR NOT NULL,
    detail VARCHAR NOT NULL
);
