-- … copied into tables of one row a block that already have their index.
CREATE TABLE seeded.copy_{{n}} (k bigint, scratch bigint, filler char(1024)) WITH (fillfactor = 10, autovacuum_enabled = off);
CREATE INDEX ON seeded.copy_{{n}} (k);
INSERT INTO seeded.copy_{{n}} SELECT * FROM seeded.seed
