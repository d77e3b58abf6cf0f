-- Creates the least privileged role for mindful. Run it as a superuser, in the database to be measured.
-- The names mindful_bench and bench are examples: `--target URL` replaces them.
CREATE ROLE mindful_bench LOGIN PASSWORD 'choose one';
-- Its schema, and the function of the server-side loop in each session's temporary schema.
GRANT CREATE, TEMPORARY ON DATABASE bench TO mindful_bench;
-- All counters and settings, and the sessions of other roles, read-only.
GRANT pg_monitor TO mindful_bench;
-- Settles after a load and after updates, so that no window pays for them.
GRANT pg_checkpoint TO mindful_bench;
