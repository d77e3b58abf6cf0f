/* mindful blocks */
CREATE TABLE {table} (k NOT NULL, seq, {columns}, mark, tail)
    SEGMENT CREATION IMMEDIATE PCTFREE 99 INITRANS 4{tablespace}{logging} NOCOMPRESS{parallel}
AS
SELECT CAST(k AS NUMBER(12)), CAST(seq AS NUMBER(12)),
{fillers},
    CAST(0 AS NUMBER(15)), CAST(0 AS NUMBER(15))
FROM (
    SELECT l * {right} + r + 1 AS k, seq
    FROM {rounds}
)
WHERE k <= {blocks}
