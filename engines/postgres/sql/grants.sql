-- The least role for mindful. As a superuser, in the database to be measured.
-- The names mindful_bench and bench are examples: `--target URL` replaces them.
CREATE ROLE mindful_bench LOGIN PASSWORD 'choose one';
-- Its schema, and the function of the server-side loop in each session's temporary schema.
GRANT CREATE, TEMPORARY ON DATABASE bench TO mindful_bench;
-- All counters and settings, and the sessions of others, read alone.
GRANT pg_monitor TO mindful_bench;
-- Settles a load and what updates left, so that no window pays for it.
GRANT pg_checkpoint TO mindful_bench;
