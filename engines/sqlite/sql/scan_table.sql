-- The table that full scans read: without an index besides the one in which it is stored.
CREATE TABLE scan_{schema} (
    pos    INTEGER PRIMARY KEY,
    k      INTEGER NOT NULL,
    c1     BLOB,
    filler BLOB,
    c2     BLOB
) STRICT;
