-- A seed table of the rows of one schema: a visited one and its ballast by turns, keys in random order …
CREATE DATABASE seeded;
USE seeded;
CREATE TABLE seeded.seed (
    id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
    k BIGINT UNSIGNED NULL,
    seq BIGINT UNSIGNED NULL,
    f1 BINARY(124) NOT NULL, f2 BINARY(124) NOT NULL, f3 BINARY(124) NOT NULL, f4 BINARY(124) NOT NULL,
    f5 BINARY(124) NOT NULL, f6 BINARY(124) NOT NULL, f7 BINARY(124) NOT NULL, f8 BINARY(124) NOT NULL,
    pad VARBINARY(8000) NOT NULL,
    mark BIGINT UNSIGNED NOT NULL,
    tail BIGINT UNSIGNED NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET binary;
INSERT INTO seeded.seed
SELECT s.place * 2 + b.odd, IF(b.odd, NULL, s.k), IF(b.odd, NULL, s.place),
       REPEAT('A', 124), REPEAT('B', 124), REPEAT('C', 124), REPEAT('D', 124),
       REPEAT('E', 124), REPEAT('F', 124), REPEAT('G', 124), REPEAT('H', 124),
       IF(b.odd, '', REPEAT('X', 6700)), 0, s.k
  FROM (SELECT ROW_NUMBER() OVER (ORDER BY RAND(1)) - 1 AS place, seq AS k FROM seq_1_to_{{rows}}) AS s
       STRAIGHT_JOIN (SELECT 0 AS odd UNION ALL SELECT 1) AS b
