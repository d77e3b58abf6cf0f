/* mindful banner */
SELECT banner FROM v$version WHERE banner LIKE 'Oracle%'
