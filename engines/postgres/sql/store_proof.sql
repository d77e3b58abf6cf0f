UPDATE {{namespace}}.registry AS r
SET proof = $3, proven_file = pg_relation_filenode(r.object), proven_pages = pg_relation_size(r.object) / 8192,
    proven_moved = pg_stat_get_tuples_inserted(r.object) + pg_stat_get_tuples_deleted(r.object)
        + pg_stat_get_tuples_updated(r.object) - pg_stat_get_tuples_hot_updated(r.object),
    proven_reset = (SELECT d.stats_reset FROM pg_stat_database AS d WHERE d.datname = current_database())
WHERE r.kind = $1 AND r.schema = $2
