INSERT INTO {{namespace}}.registry (name, kind, object, schema, blocks, seed, content, shape)
VALUES ($1, $2, $3::text::regclass, $4, $5, $6, $7, $8)
