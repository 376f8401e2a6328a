COMMENT ON TABLE tick_files IS 'One row per Parquet file that the view ticks reads';
COMMENT ON COLUMN tick_files.file IS 'Absolute path when this database was published';
