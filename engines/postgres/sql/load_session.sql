-- A load session: builds with memory, writes back while it copies instead of in one wall at commit.
SET maintenance_work_mem = '256MB';
SET max_parallel_maintenance_workers = 0;
SET default_statistics_target = 1
