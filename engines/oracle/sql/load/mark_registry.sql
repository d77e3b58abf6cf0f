/* mindful mark_registry */
COMMENT ON TABLE {registry} IS '{mark}'
