/* mindful instance_statistics */
SELECT name, value FROM v$sysstat WHERE name IN ({names})
