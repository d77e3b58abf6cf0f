CREATE SCHEMA {{namespace}};
COMMENT ON SCHEMA {{namespace}} IS {{mark}};
-- Every object of mindful's by its oid: a name alone proves nothing.
CREATE TABLE {{namespace}}.registry (
    name text PRIMARY KEY,
    kind text NOT NULL,
    object oid NOT NULL UNIQUE,
    schema integer NOT NULL,
    blocks bigint NOT NULL,
    seed text NOT NULL,
    content text NOT NULL,
    shape integer NOT NULL,
    -- The proof of its layout, and the table as it was then: its file, its pages, rows that were added, removed or moved to
    -- another block so far, and from when the server counts these.
    proof text,
    proven_file oid,
    proven_pages bigint,
    proven_moved bigint,
    proven_reset timestamptz,
    -- Which start of the server has it in its cache in block order and how much of it, and the buffers it had taken then.
    filled_by text,
    filled_allocs bigint,
    made_at timestamptz NOT NULL DEFAULT now()
) USING heap
