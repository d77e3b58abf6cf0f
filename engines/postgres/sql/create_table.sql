CREATE TABLE {{table}} (
    k bigint NOT NULL,
    seq bigint,
    f1 bytea NOT NULL, f2 bytea NOT NULL, f3 bytea NOT NULL, f4 bytea NOT NULL,
    f5 bytea NOT NULL, f6 bytea NOT NULL, f7 bytea NOT NULL, f8 bytea NOT NULL,
    mark bigint NOT NULL,
    tail bigint NOT NULL
) USING heap WITH (fillfactor = 10, autovacuum_enabled = off) {{tablespace}};
-- In the row as it is: no compression, no side table.
ALTER TABLE {{table}}
    ALTER f1 SET STORAGE PLAIN, ALTER f2 SET STORAGE PLAIN, ALTER f3 SET STORAGE PLAIN, ALTER f4 SET STORAGE PLAIN,
    ALTER f5 SET STORAGE PLAIN, ALTER f6 SET STORAGE PLAIN, ALTER f7 SET STORAGE PLAIN, ALTER f8 SET STORAGE PLAIN
