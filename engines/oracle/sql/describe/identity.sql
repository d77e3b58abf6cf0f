/* mindful identity */
SELECT dbid, SYS_CONTEXT('USERENV', 'CON_ID') FROM v$database
