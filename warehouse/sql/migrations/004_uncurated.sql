-- Beside what Curator accepted, the candidates of every build as they came are frozen, for the agent that plays
-- without curation. Warehouses of before know curated snapshots alone.
ALTER TABLE builds ADD COLUMN uncurated_snapshot_id VARCHAR;
ALTER TABLE snapshots ADD COLUMN curated BOOLEAN DEFAULT true;
