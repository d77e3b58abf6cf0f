-- Rows of ranks have the chunk number -1, and chunks are numbered from 0.
CREATE TABLE {{table}} (
    job VARCHAR(255) NOT NULL,
    rank_number INT UNSIGNED NOT NULL,
    chunk INT NOT NULL,
    token VARCHAR(255) NOT NULL,
    body MEDIUMTEXT NOT NULL,
    bytes MEDIUMBLOB NOT NULL,
    expires_us BIGINT NOT NULL,
    PRIMARY KEY (job, rank_number, chunk)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT = '{{mark}}'
