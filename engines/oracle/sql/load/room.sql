/* mindful room */
SELECT t.tablespace_name, t.block_size, t.force_logging, t.status, q.bytes, q.max_bytes,
    (SELECT SUM(f.bytes) FROM user_free_space f WHERE f.tablespace_name = t.tablespace_name) AS free_bytes,
    (SELECT COUNT(*) FROM session_privs WHERE privilege = 'UNLIMITED TABLESPACE') AS unlimited,
    (SELECT COUNT(*) FROM session_privs WHERE privilege IN ('CREATE TABLE', 'CREATE ANY TABLE')) AS creates
FROM user_tablespaces t
LEFT JOIN user_ts_quotas q ON q.tablespace_name = t.tablespace_name
WHERE t.tablespace_name = NVL(:tablespace, (SELECT u.default_tablespace FROM user_users u))
