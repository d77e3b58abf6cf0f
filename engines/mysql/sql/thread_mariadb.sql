SELECT TID FROM information_schema.PROCESSLIST
 WHERE ID = CONNECTION_ID() AND @@GLOBAL.thread_handling = 'one-thread-per-connection'
