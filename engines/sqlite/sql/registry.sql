-- What makes a file mindful's own, besides its application id: the parameters of the dataset, and each object with its
-- schema, registered in the transaction that makes it.
CREATE TABLE mindful_dataset (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    parameters TEXT NOT NULL,
    -- The proof of the layout, and the schema version of the file it is about: whatever moves rows counts it up.
    proof      TEXT
) STRICT;

CREATE TABLE mindful_schema (
    schema      INTEGER PRIMARY KEY,
    table_bytes INTEGER NOT NULL,
    index_bytes INTEGER NOT NULL
) STRICT;
