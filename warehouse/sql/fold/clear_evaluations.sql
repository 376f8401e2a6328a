-- Takes out what was loaded of the evaluations of the build in the variable "build", and nothing else of it.
DELETE FROM evaluations WHERE build = getvariable('build');
DELETE FROM shards WHERE build = getvariable('build') AND store = 'log' AND table_name = 'evaluations';
