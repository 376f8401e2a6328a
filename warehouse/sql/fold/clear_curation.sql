-- Takes out what curation made of the build in the variable "build" and of every later one. Snapshots that no
-- earlier build froze to go as well; those that were published come back from their folders.
DELETE FROM decisions WHERE build >= getvariable('build');
DELETE FROM backtests WHERE build >= getvariable('build');
DELETE FROM knowledge_versions WHERE build >= getvariable('build');
DELETE FROM builds WHERE build >= getvariable('build');
DELETE FROM snapshots WHERE NOT EXISTS (
    FROM builds AS b WHERE snapshots.snapshot_id IN (b.snapshot_id, b.uncurated_snapshot_id)
);
DELETE FROM snapshot_entries WHERE snapshot_id NOT IN (SELECT snapshot_id FROM snapshots);
