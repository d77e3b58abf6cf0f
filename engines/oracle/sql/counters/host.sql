/* mindful host */
SELECT stat_name, value FROM v$osstat
WHERE stat_name IN ('NUM_CPUS', 'LOAD', 'IDLE_TIME', 'BUSY_TIME', 'USER_TIME', 'SYS_TIME', 'IOWAIT_TIME')
