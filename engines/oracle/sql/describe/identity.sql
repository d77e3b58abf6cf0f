/* mindful identity */
SELECT dbid, con_dbid FROM v$database
