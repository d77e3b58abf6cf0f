-- … copied into a table that already has its index.
CREATE TABLE seeded.copy_{{n}} LIKE seeded.seed;
ALTER TABLE seeded.copy_{{n}} ADD UNIQUE INDEX k (k);
INSERT INTO seeded.copy_{{n}} SELECT * FROM seeded.seed ORDER BY id;
ANALYZE NO_WRITE_TO_BINLOG TABLE seeded.copy_{{n}}
