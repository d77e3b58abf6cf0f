-- The identity of this server: its host and folder, the source of its process's UUIDs, and the second of its start. A
-- proxy that numbers connections itself gives the client another number.
SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir, SUBSTRING(UUID(), 20), UNIX_TIMESTAMP() - VARIABLE_VALUE),
       CONNECTION_ID()
  FROM /*M! information_schema.GLOBAL_STATUS */ /*!80000 performance_schema.global_status */
 WHERE VARIABLE_NAME = 'Uptime'
