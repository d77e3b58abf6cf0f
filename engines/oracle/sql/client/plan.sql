/* mindful plan */
SELECT LPAD(' ', 2 * depth) || operation || ' ' || options || ' ' || object_name AS line
FROM plan_table WHERE statement_id = 'mindful' ORDER BY id
