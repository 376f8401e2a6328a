-- Takes out what was loaded of the files that were handed in for the build in the variable "build" and put
-- aside, and nothing else of it.
DELETE FROM quarantine WHERE build = getvariable('build') AND source = 'inbox';
DELETE FROM shards WHERE build = getvariable('build') AND store = 'log' AND table_name = 'put_aside';
