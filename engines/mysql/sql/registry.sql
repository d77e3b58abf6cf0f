CREATE TABLE {{registry}} (
    name VARCHAR(64) NOT NULL PRIMARY KEY,
    kind VARCHAR(16) NOT NULL,
    schema_number INT UNSIGNED NOT NULL,
    `blocks` BIGINT UNSIGNED NOT NULL,
    seed VARCHAR(32) NOT NULL,
    content TEXT NOT NULL,
    shape INT NOT NULL,
    proof TEXT NULL,
    proven_table VARCHAR(64) NULL,
    made_at VARCHAR(64) NOT NULL
) {{storage}} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT = '{{mark}}'
