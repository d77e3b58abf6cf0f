-- Plain index scans with one heap visit a row, planned once.
SET plan_cache_mode = force_generic_plan;
SET enable_indexscan = on;
SET enable_bitmapscan = off;
SET enable_indexonlyscan = off;
SET enable_seqscan = off;
SET enable_memoize = off;
SET enable_sort = off;
SET enable_hashagg = on;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET default_transaction_isolation = 'read committed';
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET DateStyle = 'ISO'
