(SELECT seq FROM {{home}} WHERE k BETWEEN first_key AND first_key + {{reach}})
