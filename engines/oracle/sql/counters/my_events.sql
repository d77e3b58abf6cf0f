/* mindful my_events */
SELECT event, total_waits, time_waited_micro FROM v$session_event
WHERE sid = SYS_CONTEXT('USERENV', 'SID') AND wait_class <> 'Idle'
