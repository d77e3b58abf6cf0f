-- For a registry of before, which has no place for proofs.
SET LOCAL client_min_messages = warning;
ALTER TABLE {{namespace}}.registry ADD IF NOT EXISTS proof text, ADD IF NOT EXISTS proven_file oid
