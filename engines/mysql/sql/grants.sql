-- Creates the least privileged user for mindful. Run it as an administrator.
-- The names mindful_bench and bench are examples: `--target URL` replaces them.
CREATE USER mindful_bench IDENTIFIED BY 'choose one';
-- Its tables, and the functions of the server-side loop.
GRANT ALL ON bench.* TO mindful_bench;
-- Tables written back before reads begin.
GRANT RELOAD ON *.* TO mindful_bench;
-- Sessions of other users, and on MySQL the backlog of purge.
GRANT PROCESS ON *.* TO mindful_bench;
-- Read times and waits, if the server records them.
GRANT SELECT ON performance_schema.* TO mindful_bench;
-- With a binary log, the functions of scans and larger units also need this:
-- SET GLOBAL log_bin_trust_function_creators = 1;
