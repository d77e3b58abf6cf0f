/* mindful all_waits */
SELECT CASE WHEN state = 'WAITING' THEN event ELSE 'ON CPU' END AS doing, COUNT(*) AS n
FROM v$session
WHERE type = 'USER' AND status = 'ACTIVE' AND sid <> SYS_CONTEXT('USERENV', 'SID')
GROUP BY CASE WHEN state = 'WAITING' THEN event ELSE 'ON CPU' END
