-- A load session: builds with memory, writes back while it copies instead of in one wall at commit.
SET maintenance_work_mem = '256MB';
SET max_parallel_maintenance_workers = 0;
SET default_statistics_target = 1;
SET client_min_messages = warning;
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0
