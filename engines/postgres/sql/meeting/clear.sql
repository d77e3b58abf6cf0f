DELETE FROM {{namespace}}.meeting WHERE job = $1 AND (rank = $2 OR $2 < 0)
