/* mindful registry */
SELECT r.table_name, r.kind, r.schema_no, r.blocks, r.seed, r.content, r.shape, r.proof,
    CASE WHEN o.object_id IS NULL THEN 'none' WHEN r.object_id IS NULL THEN 'begun'
        WHEN o.object_id = r.object_id THEN 'whole' ELSE 'other' END AS state,
    (SELECT SUM(s.bytes) FROM user_segments s WHERE s.segment_name = r.table_name) AS table_bytes,
    (SELECT SUM(s.bytes) FROM user_segments s WHERE s.segment_name = r.table_name || '_K') AS index_bytes
FROM {registry} r
LEFT JOIN user_objects o ON o.object_name = r.table_name AND o.object_type = 'TABLE'
ORDER BY r.kind, r.schema_no
