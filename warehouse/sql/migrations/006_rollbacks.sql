-- What the own knowledge of a build freezes to, where it was set back to another snapshot.
ALTER TABLE builds ADD COLUMN instead_of VARCHAR;

CREATE TABLE rollbacks (
    build VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    instead_of VARCHAR NOT NULL,
    snapshot_id VARCHAR NOT NULL
);
