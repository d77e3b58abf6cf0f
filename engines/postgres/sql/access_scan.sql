-- From the first block of the table to the last.
SET enable_seqscan = on
