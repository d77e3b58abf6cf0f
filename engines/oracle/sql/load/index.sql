/* mindful index */
CREATE UNIQUE INDEX {table}_K ON {table} (k) PCTFREE 0{tablespace}{logging}{parallel}
