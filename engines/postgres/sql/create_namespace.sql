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
    -- The proof of its layout, and the file it was proven on: another one holds the rows in another order.
    proof text,
    proven_file oid,
    made_at timestamptz NOT NULL DEFAULT now()
) USING heap
