-- An entry and everything that was merged into it.
WITH RECURSIVE kin (entry_id) AS (
    SELECT $1
    UNION
    SELECT parent.entry_id
    FROM kin JOIN knowledge AS k USING (entry_id), unnest(k.merged_from) AS parent (entry_id)
)

SELECT entry_id FROM kin ORDER BY entry_id;
