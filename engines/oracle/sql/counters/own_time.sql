/* mindful own_time */
SELECT s.sid, m.stat_name, m.value
FROM v$session s
JOIN v$sess_time_model m ON m.sid = s.sid
WHERE s.module = :module AND s.action = :action AND m.stat_name IN ('DB time', 'DB CPU')
