/* mindful data_files */
SELECT DISTINCT f.name
FROM {registry} r
JOIN user_segments s ON s.segment_name = r.table_name
JOIN v$tablespace t ON t.name = s.tablespace_name
JOIN v$datafile f ON f.ts# = t.ts# AND f.con_id = t.con_id
ORDER BY f.name
