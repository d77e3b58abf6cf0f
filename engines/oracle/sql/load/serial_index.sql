/* mindful serial_index */
ALTER INDEX {table}_K NOPARALLEL
