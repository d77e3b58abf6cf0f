/* mindful disks */
SELECT SUM(reads), SUM(bytes_read), SUM(read_time), SUM(writes), SUM(bytes_written), SUM(write_time)
FROM v$asm_disk_iostat
