UPDATE {{namespace}}.registry AS r SET proof = $3, proven_file = pg_relation_filenode(r.object)
WHERE r.kind = $1 AND r.schema = $2
