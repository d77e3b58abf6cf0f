/* mindful database */
SELECT log_mode, force_logging, open_mode, cdb, database_role FROM v$database
