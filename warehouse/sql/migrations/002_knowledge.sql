-- What the log and Curator add: candidates, decisions, the knowledge store with its history, model calls,
-- snapshots. `record` is the canonical JSON of the whole thing and the truth; the columns beside it are there
-- to be asked about.

CREATE TABLE candidates (
    candidate_id VARCHAR PRIMARY KEY,
    entry_id VARCHAR NOT NULL,
    build VARCHAR NOT NULL,
    domain VARCHAR NOT NULL,
    type VARCHAR NOT NULL,
    kind VARCHAR,
    target VARCHAR,
    failure_type VARCHAR,
    missing VARCHAR[],
    scope VARCHAR NOT NULL,
    category VARCHAR NOT NULL,
    trigger STRUCT(
        field VARCHAR,
        op VARCHAR,
        "values" STRUCT("text" VARCHAR, number DOUBLE, flag BOOLEAN)[]
    )[] NOT NULL,
    steps STRUCT(kind VARCHAR, target VARCHAR, count INTEGER)[] NOT NULL,
    support VARCHAR[] NOT NULL,
    request_id VARCHAR NOT NULL,
    engine VARCHAR NOT NULL,
    record VARCHAR NOT NULL
);

CREATE TABLE decisions (
    decision_id VARCHAR PRIMARY KEY,
    build VARCHAR NOT NULL,
    candidate_id VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    verdict VARCHAR NOT NULL,
    reasons STRUCT(rule VARCHAR, detail VARCHAR)[] NOT NULL,
    merged_into VARCHAR,
    conflict_with VARCHAR[] NOT NULL
);

CREATE TABLE knowledge (
    entry_id VARCHAR PRIMARY KEY,
    domain VARCHAR NOT NULL,
    type VARCHAR NOT NULL,
    kind VARCHAR,
    target VARCHAR,
    failure_type VARCHAR,
    missing VARCHAR[],
    scope VARCHAR NOT NULL,
    category VARCHAR NOT NULL,
    trigger STRUCT(
        field VARCHAR,
        op VARCHAR,
        "values" STRUCT("text" VARCHAR, number DOUBLE, flag BOOLEAN)[]
    )[] NOT NULL,
    steps STRUCT(kind VARCHAR, target VARCHAR, count INTEGER)[] NOT NULL,
    confidence DOUBLE NOT NULL,
    support INTEGER NOT NULL,
    support_episodes INTEGER NOT NULL,
    uses INTEGER NOT NULL,
    wins INTEGER NOT NULL,
    status VARCHAR NOT NULL,
    merged_from VARCHAR[] NOT NULL,
    merged_into VARCHAR,
    first_build VARCHAR NOT NULL,
    last_build VARCHAR NOT NULL,
    version INTEGER NOT NULL,
    record VARCHAR NOT NULL
);

-- One row for each build that changed an entry: the store as it stood after any build is the last row of
-- every entry up to that build.
CREATE TABLE knowledge_versions (
    entry_id VARCHAR NOT NULL,
    build VARCHAR NOT NULL,
    version INTEGER NOT NULL,
    status VARCHAR NOT NULL,
    confidence DOUBLE NOT NULL,
    support INTEGER NOT NULL,
    support_episodes INTEGER NOT NULL,
    uses INTEGER NOT NULL,
    wins INTEGER NOT NULL,
    record VARCHAR NOT NULL
);

CREATE TABLE knowledge_support (
    entry_id VARCHAR NOT NULL,
    feedback_id VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL
);

CREATE TABLE knowledge_usage (
    build VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    feedback_id VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    won BOOLEAN
);

CREATE TABLE model_calls (
    answer_id VARCHAR PRIMARY KEY,
    build VARCHAR NOT NULL,
    request_id VARCHAR NOT NULL,
    cache_key VARCHAR NOT NULL,
    role VARCHAR NOT NULL,
    template VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    system VARCHAR NOT NULL,
    user VARCHAR NOT NULL,
    situation VARCHAR NOT NULL,
    raw VARCHAR NOT NULL,
    value VARCHAR,
    error VARCHAR,
    error_detail VARCHAR,
    tokens_in INTEGER,
    tokens_out INTEGER
);

CREATE TABLE builds (
    build VARCHAR PRIMARY KEY,
    snapshot_id VARCHAR NOT NULL
);

CREATE TABLE snapshots (
    snapshot_id VARCHAR PRIMARY KEY,
    entries INTEGER NOT NULL,
    skills INTEGER NOT NULL,
    remedies INTEGER NOT NULL
);

CREATE TABLE snapshot_entries (
    snapshot_id VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    type VARCHAR NOT NULL,
    kind VARCHAR,
    target VARCHAR,
    confidence DOUBLE NOT NULL,
    support INTEGER NOT NULL,
    support_episodes INTEGER NOT NULL,
    uses INTEGER NOT NULL,
    wins INTEGER NOT NULL,
    version INTEGER NOT NULL
);

CREATE TABLE evaluations (
    build VARCHAR NOT NULL,
    snapshot_id VARCHAR,
    arm VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    task_id VARCHAR NOT NULL,
    world_seed BIGINT NOT NULL,
    planner_seed BIGINT NOT NULL,
    success BOOLEAN
);

-- Every shard that a manifest or the log lists, by its path below the data home.
CREATE TABLE shards (
    store VARCHAR NOT NULL,
    build VARCHAR NOT NULL,
    task_group VARCHAR,
    source_name VARCHAR,
    table_name VARCHAR NOT NULL,
    file VARCHAR NOT NULL,
    sha256 VARCHAR,
    rows BIGINT NOT NULL
);
