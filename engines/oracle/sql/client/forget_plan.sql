/* mindful forget_plan */
DELETE FROM plan_table WHERE statement_id = 'mindful'
