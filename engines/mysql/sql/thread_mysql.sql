SELECT THREAD_OS_ID FROM performance_schema.threads
 WHERE PROCESSLIST_ID = CONNECTION_ID() AND @@GLOBAL.thread_handling = 'one-thread-per-connection'
