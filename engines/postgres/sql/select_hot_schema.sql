(SELECT seq FROM {{home}} WHERE k BETWEEN first_key AND first_key + {{reach}} AND NOT hot_schema
                                     UNION ALL
                                     SELECT seq FROM {{hot_table}} WHERE k BETWEEN first_key AND first_key + {{reach}} AND hot_schema)
