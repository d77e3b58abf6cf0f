/* mindful sga */
SELECT name, bytes FROM v$sgainfo ORDER BY name
