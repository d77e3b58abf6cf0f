/* mindful look */
SELECT table_name, comments FROM user_tab_comments
WHERE table_name = :registry
