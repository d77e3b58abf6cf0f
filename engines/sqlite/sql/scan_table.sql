-- The table that full scans read: no index beside the one it is stored in.
CREATE TABLE scan_{schema} (
    pos    INTEGER PRIMARY KEY,
    k      INTEGER NOT NULL,
    c1     BLOB,
    filler BLOB,
    c2     BLOB
) STRICT;
