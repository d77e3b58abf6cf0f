SELECT (SELECT MAX(enabled) FROM performance_schema.setup_consumers WHERE name = 'events_waits_current') = 'YES'
   AND (SELECT MAX(enabled) FROM performance_schema.setup_instruments
         WHERE name = 'wait/io/file/innodb/innodb_data_file') = 'YES'
