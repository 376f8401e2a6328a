-- Takes out what curation made of the build in the variable "build" and of every later one. Snapshots that no
-- earlier build froze to go as well; those that were published come back from their folders.
DELETE FROM decisions WHERE build >= getvariable('build');
DELETE FROM knowledge_versions WHERE build >= getvariable('build');
DELETE FROM builds WHERE build >= getvariable('build');
DELETE FROM snapshots WHERE snapshot_id NOT IN (SELECT snapshot_id FROM builds);
DELETE FROM snapshot_entries WHERE snapshot_id NOT IN (SELECT snapshot_id FROM builds);
