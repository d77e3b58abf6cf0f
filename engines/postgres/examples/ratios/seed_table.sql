-- The way of pgio: a dense seed table in random order …
CREATE SCHEMA seeded;
CREATE TABLE seeded.seed (k bigint, scratch bigint, filler char(1024));
INSERT INTO seeded.seed
SELECT k, floor(random() * 1000000)::bigint, repeat('X', 1024) FROM generate_series(1, 65536) AS k ORDER BY random()
