/* mindful own_statistics */
SELECT s.sid, n.name, t.value
FROM v$session s
JOIN v$sesstat t ON t.sid = s.sid
JOIN v$statname n ON n.statistic# = t.statistic#
WHERE s.module = :module AND s.action = :action AND n.name IN ({names})
