SELECT CAST(sum_timer_read / 1000000 AS DOUBLE), CAST(count_read AS DOUBLE)
  FROM performance_schema.file_summary_by_event_name
 WHERE event_name = 'wait/io/file/innodb/innodb_data_file'
