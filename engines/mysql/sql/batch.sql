SELECT SYSDATE(6), {{visit}}, SYSDATE(6)
  FROM JSON_TABLE(?, '$[*]' COLUMNS ({{columns}})) j
 WHERE SYSDATE(6) < ?
