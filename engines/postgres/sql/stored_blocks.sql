-- Blocks as they are stored: every $2nd of the first $3, of $4 bytes.
SELECT pg_read_binary_file(pg_relation_filepath($1::text::regclass), number * $4, $4, true) AS block
FROM generate_series(0, $3::bigint - 1, $2::bigint) AS number
