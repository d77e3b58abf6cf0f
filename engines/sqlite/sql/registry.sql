-- What makes a file mindful's own, beside its application id: the parameters of the dataset, and each object with its
-- schema, registered in the transaction that makes it.
CREATE TABLE mindful_dataset (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    parameters TEXT NOT NULL
) STRICT;

CREATE TABLE mindful_schema (
    schema      INTEGER PRIMARY KEY,
    table_bytes INTEGER NOT NULL,
    index_bytes INTEGER NOT NULL
) STRICT;
