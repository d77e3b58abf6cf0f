CREATE UNIQUE INDEX {{index}} ON {{table}} (k) WITH (fillfactor = 100) {{tablespace}}
