-- The first fault of each of the tables $1 compared with mindful's definition. They may belong to the roles $2 and have
-- the columns $3. Reads only the catalogue, so no code that is attached to a table runs.
SELECT DISTINCT ON (c.oid) c.oid AS object, c.relowner = ANY ($2) AS ours, fault.what
FROM pg_class AS c, LATERAL (
    SELECT 1 AS rank, 'belongs to role ' || quote_ident(pg_get_userbyid(c.relowner)) AS what
    WHERE NOT c.relowner = ANY ($2)
    UNION ALL
    SELECT 2, 'is no plain table'
    WHERE c.relkind <> 'r' OR c.relpersistence <> 'p' OR c.relispartition OR c.reloftype <> 0
       OR NOT EXISTS (SELECT FROM pg_am AS a WHERE a.oid = c.relam AND a.amname = 'heap')
    UNION ALL
    SELECT 3, 'inherits, or is inherited from' FROM pg_inherits AS i WHERE c.oid IN (i.inhrelid, i.inhparent)
    UNION ALL
    SELECT 4, 'has the rule ' || quote_ident(r.rulename) FROM pg_rewrite AS r WHERE r.ev_class = c.oid
    UNION ALL
    SELECT 5, 'has the trigger ' || quote_ident(t.tgname) FROM pg_trigger AS t WHERE t.tgrelid = c.oid
    UNION ALL
    SELECT 6, 'lets others add triggers to it' FROM aclexplode(c.relacl) AS granted
    WHERE granted.privilege_type = 'TRIGGER' AND NOT granted.grantee = ANY ($2)
    UNION ALL
    SELECT 7, 'has row security' WHERE c.relrowsecurity OR c.relforcerowsecurity
    UNION ALL
    SELECT 7, 'has the policy ' || quote_ident(p.polname) FROM pg_policy AS p WHERE p.polrelid = c.oid
    UNION ALL
    SELECT 8, 'has the constraint ' || quote_ident(k.conname) FROM pg_constraint AS k
    WHERE k.conrelid = c.oid AND k.contype NOT IN ('p', 'u', 'n')
    UNION ALL
    SELECT 9, 'has the column ' || quote_ident(a.attname) || ', or has it of another type'
    FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      AND (t.typnamespace <> 'pg_catalog'::regnamespace OR a.attgenerated <> '' OR a.attidentity <> ''
           OR NOT a.attname || ' ' || format_type(a.atttypid, a.atttypmod) = ANY ($3))
    UNION ALL
    SELECT 9, 'lacks the column ' || quote_ident(split_part(wanted, ' ', 1)) FROM unnest($3) AS wanted
    WHERE NOT EXISTS (SELECT FROM pg_attribute AS a
                      WHERE a.attrelid = c.oid AND NOT a.attisdropped AND a.attname = split_part(wanted, ' ', 1))
    UNION ALL
    SELECT 10, 'has a default that mindful did not give it' FROM pg_attrdef AS d
    WHERE d.adrelid = c.oid AND pg_get_expr(d.adbin, d.adrelid) <> 'now()'
    UNION ALL
    SELECT 11, 'has the index ' || quote_ident(x.relname) || ', with expressions or operators of others'
    FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid
    WHERE i.indrelid = c.oid
      AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL
           OR EXISTS (SELECT FROM unnest(i.indclass::oid[]) AS used JOIN pg_opclass AS o ON o.oid = used
                      WHERE o.opcnamespace <> 'pg_catalog'::regnamespace))
    UNION ALL
    SELECT 12, 'has the statistics ' || quote_ident(s.stxname) FROM pg_statistic_ext AS s WHERE s.stxrelid = c.oid
) AS fault
WHERE c.oid = ANY ($1)
ORDER BY c.oid, fault.rank
