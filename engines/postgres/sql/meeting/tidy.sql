DELETE FROM {{table}}
WHERE abs(expires_us::numeric - extract(epoch FROM clock_timestamp()) * 1000000) > {{kept_us}}
