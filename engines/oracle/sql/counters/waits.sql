/* mindful waits */
SELECT CASE WHEN state = 'WAITING' THEN event ELSE 'ON CPU' END AS doing, COUNT(*) AS n
FROM v$session
WHERE module = :module AND action = :action
GROUP BY CASE WHEN state = 'WAITING' THEN event ELSE 'ON CPU' END
