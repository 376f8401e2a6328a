-- Second opinions and try-outs, from the log.
CREATE TABLE reviews (
    build VARCHAR NOT NULL,
    candidate_id VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    verdict VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    request_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    template VARCHAR NOT NULL
);

CREATE TABLE tryouts (
    build VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    situation VARCHAR NOT NULL,
    world_seed BIGINT NOT NULL,
    arm VARCHAR NOT NULL,
    success BOOLEAN,
    ticks INTEGER NOT NULL
);
