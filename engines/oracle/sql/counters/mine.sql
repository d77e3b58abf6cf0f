/* mindful my_statistics */
SELECT n.name, t.value
FROM v$sesstat t
JOIN v$statname n ON n.statistic# = t.statistic#
WHERE t.sid = SYS_CONTEXT('USERENV', 'SID') AND n.name IN ({names})
