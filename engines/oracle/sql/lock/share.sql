/* mindful lock_share */
LOCK TABLE {registry} IN ROW SHARE MODE NOWAIT
