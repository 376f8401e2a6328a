-- The recorded observations, read where they lie. {files} is the list of the shards that the manifests of
-- data/traces named when this database was published; a view can hold no parameter.
CREATE VIEW ticks AS SELECT * FROM {files};

COMMENT ON VIEW ticks IS 'One row per observation, over the Parquet shards of all builds; filter by episode_id where you can';
COMMENT ON COLUMN ticks.episode_id IS 'The episode';
COMMENT ON COLUMN ticks.attempt IS 'The subgoal attempt in the episode, from 0';
COMMENT ON COLUMN ticks.tick IS 'Game ticks since the start of the episode, 20 a second';
COMMENT ON COLUMN ticks.x IS 'East, blocks';
COMMENT ON COLUMN ticks.y IS 'Up, blocks';
COMMENT ON COLUMN ticks.z IS 'South, blocks';
COMMENT ON COLUMN ticks.health IS 'Half-hearts, 0-20';
COMMENT ON COLUMN ticks.hunger IS 'Half-shanks of food, 0-20';
COMMENT ON COLUMN ticks.alive IS 'Null where the source does not tell';
COMMENT ON COLUMN ticks.equipped IS 'Item in the main hand';
COMMENT ON COLUMN ticks.gui IS 'none, inventory, crafting_table, furnace or other';
