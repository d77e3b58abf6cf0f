/* mindful pools */
SELECT name || ' ' || block_size AS pool, current_size * 1048576 AS size_bytes FROM v$buffer_pool WHERE current_size > 0 ORDER BY 1
