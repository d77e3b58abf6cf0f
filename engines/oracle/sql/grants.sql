-- Creates the least privileged account for mindful's experimental engine for Oracle. Run it as a DBA, in the pluggable
-- database to be measured. Choose the tablespace and the password.
-- The name mindful_bench is an example: `--target URL` replaces it.
CREATE USER mindful_bench IDENTIFIED BY "choose one" DEFAULT TABLESPACE users QUOTA UNLIMITED ON users;
-- To connect, and to make its own tables. Nothing else is made: no procedure, no user, no tablespace.
GRANT CREATE SESSION, CREATE TABLE TO mindful_bench;
-- Counters, waits and settings. Without one of them a run continues, its figures are unknown, and a finding names it.
GRANT SELECT ON V_$SESSION TO mindful_bench;
GRANT SELECT ON V_$SESSTAT TO mindful_bench;
GRANT SELECT ON V_$STATNAME TO mindful_bench;
GRANT SELECT ON V_$SYSSTAT TO mindful_bench;
GRANT SELECT ON V_$SESSION_EVENT TO mindful_bench;
GRANT SELECT ON V_$SESS_TIME_MODEL TO mindful_bench;
GRANT SELECT ON V_$EVENT_HISTOGRAM_MICRO TO mindful_bench;
GRANT SELECT ON V_$OSSTAT TO mindful_bench;
GRANT SELECT ON V_$IOSTAT_FILE TO mindful_bench;
GRANT SELECT ON V_$PARAMETER TO mindful_bench;
GRANT SELECT ON V_$INSTANCE TO mindful_bench;
GRANT SELECT ON V_$DATABASE TO mindful_bench;
GRANT SELECT ON V_$SGAINFO TO mindful_bench;
GRANT SELECT ON V_$BUFFER_POOL TO mindful_bench;
-- For a contrast with its own files, where these lie on the host that mindful runs on.
GRANT SELECT ON V_$DATAFILE TO mindful_bench;
GRANT SELECT ON V_$TABLESPACE TO mindful_bench;
-- Where the database lies in ASM, to see its disks.
GRANT SELECT ON V_$ASM_DISK_IOSTAT TO mindful_bench;
-- Release 12 alone: sleeping there needs a package that is not public.
-- GRANT EXECUTE ON DBMS_LOCK TO mindful_bench
