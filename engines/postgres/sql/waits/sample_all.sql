-- The current activity of all clients of the server except mindful's own sampling, and of autovacuum.
SELECT CASE WHEN state LIKE 'idle%' THEN 'Client' ELSE wait_event_type END AS wait_event_type,
       CASE WHEN state LIKE 'idle%' THEN 'ClientRead' ELSE wait_event END AS wait_event,
       array_agg(pid) AS pids, CASE WHEN backend_type = 'client backend' THEN 'session' ELSE 'maintenance' END AS kind
FROM pg_stat_get_activity(NULL)
WHERE (pid <> pg_backend_pid()
       AND application_name IS DISTINCT FROM 'mindful counters'
       AND backend_type = 'client backend')
   OR backend_type = 'autovacuum worker'
GROUP BY 1, 2, 4
