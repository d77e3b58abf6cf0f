-- What our own sessions are at right now. The function beneath pg_stat_activity, without the view's two joins.
SELECT wait_event_type, wait_event, array_agg(pid) AS pids
FROM pg_stat_get_activity(NULL)
WHERE pid <> pg_backend_pid()
  AND application_name = $1
  AND usesysid = $2
  AND datid = $3
  AND backend_type = 'client backend'
GROUP BY wait_event_type, wait_event
