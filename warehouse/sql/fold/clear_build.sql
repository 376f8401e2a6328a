-- Takes out everything that was loaded from the shards of the build in the variable "build".
DELETE FROM attempts WHERE episode_id IN (SELECT episode_id FROM episodes WHERE build = getvariable('build'));
DELETE FROM events WHERE episode_id IN (SELECT episode_id FROM episodes WHERE build = getvariable('build'));
DELETE FROM sightings WHERE episode_id IN (SELECT episode_id FROM episodes WHERE build = getvariable('build'));
DELETE FROM inventory_changes WHERE episode_id IN (SELECT episode_id FROM episodes WHERE build = getvariable('build'));
DELETE FROM feedback WHERE episode_id IN (SELECT episode_id FROM episodes WHERE build = getvariable('build'));
DELETE FROM data_quality WHERE episode_id IN (SELECT episode_id FROM episodes WHERE build = getvariable('build'));
DELETE FROM episodes WHERE build = getvariable('build');
DELETE FROM quarantine WHERE build = getvariable('build');
DELETE FROM candidates WHERE build = getvariable('build');
DELETE FROM knowledge_usage WHERE build = getvariable('build');
DELETE FROM reviews WHERE build = getvariable('build');
DELETE FROM imports WHERE build = getvariable('build');
DELETE FROM rollbacks WHERE build = getvariable('build');
DELETE FROM tryouts WHERE build = getvariable('build');
DELETE FROM model_calls WHERE build = getvariable('build');
DELETE FROM evaluations WHERE build = getvariable('build');
DELETE FROM shards WHERE build = getvariable('build');
