SELECT ID, TID, COALESCE(COMMAND, ''), COALESCE(STATE, ''), NULL, NULL
  FROM information_schema.PROCESSLIST
 WHERE ID IN ({{sessions}}) OR (COMMAND IN ('Query', 'Execute') AND ID NOT IN ({{ours}}))
