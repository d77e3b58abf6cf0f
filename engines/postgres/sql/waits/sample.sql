-- What our own sessions are at right now, and whether autovacuum is at work. The function beneath pg_stat_activity,
-- without the view's two joins.
SELECT wait_event_type, wait_event, array_agg(pid) AS pids, backend_type = 'client backend' AS sessions
FROM pg_stat_get_activity(NULL)
WHERE (pid <> pg_backend_pid()
       AND application_name = $1
       AND usesysid = $2
       AND datid = $3
       AND backend_type = 'client backend')
   OR backend_type = 'autovacuum worker'
GROUP BY wait_event_type, wait_event, backend_type
