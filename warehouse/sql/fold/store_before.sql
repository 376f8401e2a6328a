-- The knowledge store as it stood before build $1: the last row of every entry of an earlier build.
SELECT arg_max(record, build) AS record
FROM knowledge_versions
WHERE build < $1
GROUP BY entry_id
ORDER BY entry_id
