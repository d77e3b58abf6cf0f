SELECT IF(timed = 'YES', enabled, 'NO') FROM performance_schema.setup_instruments
 WHERE name = 'wait/io/file/innodb/innodb_data_file'
