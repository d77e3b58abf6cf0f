-- The least user for mindful. As an administrator.
-- The names mindful_bench and bench are examples: `--target URL` replaces them.
CREATE USER mindful_bench IDENTIFIED BY 'choose one';
-- Its tables, and the functions of the server-side loop.
GRANT ALL ON bench.* TO mindful_bench;
-- Tables written back before reads begin.
GRANT RELOAD ON *.* TO mindful_bench;
-- Sessions of others; on MySQL what purge has left to do.
GRANT PROCESS ON *.* TO mindful_bench;
-- Read times and waits, where the server keeps them.
GRANT SELECT ON performance_schema.* TO mindful_bench;
-- Where there is a binary log, the functions of scans and larger units need this as well:
-- SET GLOBAL log_bin_trust_function_creators = 1;
