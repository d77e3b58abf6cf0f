-- One schema. Rows are inserted in order of pos, which so is the physical order; k is a random permutation of it.
-- A row fills its page, so that a leaf of the B-tree holds one. No changing column is indexed, none ever grows.
CREATE TABLE blocks_{schema} (
    pos    INTEGER PRIMARY KEY,
    k      INTEGER NOT NULL,
    c1     BLOB,
    filler BLOB,
    c2     BLOB
) STRICT;
