/* mindful explain */
EXPLAIN PLAN SET STATEMENT_ID = 'mindful' FOR
{statement}
