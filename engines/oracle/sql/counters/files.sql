/* mindful files */
SELECT SUM(small_read_reqs + large_read_reqs), SUM(small_read_megabytes + large_read_megabytes),
    SUM(small_write_reqs + large_write_reqs), SUM(small_write_megabytes + large_write_megabytes),
    SUM(small_sync_read_reqs), SUM(small_sync_read_latency)
FROM v$iostat_file
WHERE filetype_id = 2
