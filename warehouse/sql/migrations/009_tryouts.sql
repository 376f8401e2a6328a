-- Where a try-out's situation comes from, and what it took to get there.
ALTER TABLE tryouts ADD COLUMN episode_id VARCHAR;
ALTER TABLE tryouts ADD COLUMN lead INTEGER;
