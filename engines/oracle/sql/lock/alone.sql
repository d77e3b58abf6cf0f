/* mindful lock_alone */
LOCK TABLE {registry} IN EXCLUSIVE MODE NOWAIT
