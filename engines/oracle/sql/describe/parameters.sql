/* mindful parameters */
SELECT name, value FROM v$parameter
WHERE name IN ({names})
ORDER BY name
