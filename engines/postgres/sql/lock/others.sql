-- Sessions of others that hold the lock of this namespace.
SELECT string_agg(l.pid::text, ', ' ORDER BY l.pid) AS pids
FROM pg_locks AS l, hashtextextended('mindful ' || $1::text, 0) AS key
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.pid <> pg_backend_pid()
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND l.classid::bigint << 32 | l.objid::bigint = key
