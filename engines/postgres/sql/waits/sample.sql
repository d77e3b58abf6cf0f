-- The current activity of our own sessions, of autovacuum, and of others: clients, their parallel workers, backups. It
-- reads the function beneath pg_stat_activity, without the view's two joins. A session that has answered waits for its
-- client, even if a busy host delays that wait: until then it has no event, and is not at work.
SELECT CASE WHEN state LIKE 'idle%' THEN 'Client' ELSE wait_event_type END AS wait_event_type,
       CASE WHEN state LIKE 'idle%' THEN 'ClientRead' ELSE wait_event END AS wait_event,
       array_agg(pid) AS pids,
       CASE WHEN backend_type = 'autovacuum worker' THEN 'maintenance'
            WHEN application_name = $1 AND usesysid = $2 AND datid = $3 AND backend_type = 'client backend' THEN 'session'
            ELSE 'other' END AS kind
FROM pg_stat_get_activity(NULL)
WHERE (pid <> pg_backend_pid()
       AND application_name = $1
       AND usesysid = $2
       AND datid = $3
       AND backend_type = 'client backend')
   OR backend_type = 'autovacuum worker'
   OR (state = 'active'
       AND pid <> pg_backend_pid()
       AND application_name NOT LIKE 'mindful%'
       AND wait_event IS DISTINCT FROM 'WalSenderMain')
GROUP BY 1, 2, 4
