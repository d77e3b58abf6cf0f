-- Rows of ranks have no chunk number; chunks are numbered from 0.
CREATE TABLE {{namespace}}.meeting (
    job text NOT NULL,
    rank integer NOT NULL,
    chunk integer NOT NULL,
    token text NOT NULL,
    body text NOT NULL,
    bytes bytea NOT NULL,
    expires_us bigint NOT NULL,
    PRIMARY KEY (job, rank, chunk)
) USING heap;
INSERT INTO {{namespace}}.registry (name, kind, object, schema, blocks, seed, content, shape)
VALUES ('meeting', 'meeting', {{table}}::regclass, 0, 0, '0', '', 0)
