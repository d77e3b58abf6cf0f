/* mindful prove_schema */
SELECT COUNT(*) AS found, COUNT(DISTINCT file_no || '.' || block_no) AS blocks, MIN(k) AS least, MAX(k) AS most,
    TO_CHAR(ROUND(NVL(CORR(k, place), 0), 6), 'FM90.000000', 'NLS_NUMERIC_CHARACTERS=''.,''') AS correlation
FROM (
    SELECT k, file_no, block_no, RANK() OVER (ORDER BY file_no, block_no) AS place
    FROM (
        SELECT k, DBMS_ROWID.ROWID_RELATIVE_FNO(ROWID, 'BIGFILE') AS file_no,
            DBMS_ROWID.ROWID_BLOCK_NUMBER(ROWID, 'BIGFILE') AS block_no
        FROM {table}
    )
)
