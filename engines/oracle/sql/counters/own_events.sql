/* mindful own_events */
SELECT s.sid, e.event, e.total_waits, e.time_waited_micro
FROM v$session s
JOIN v$session_event e ON e.sid = s.sid
WHERE s.module = :module AND s.action = :action AND e.wait_class <> 'Idle'
