DELETE FROM {{table}} WHERE expires_us < CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) - {{kept_us}}
