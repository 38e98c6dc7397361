-- Keeps a refused document as a dead letter, or counts one more try.
insert into {schema}.dead_letter as d (index, id, routing, version, status, error_type, reason, first_at, last_at)
values ($1, $2, $3, $4, $5, $6, $7, statement_timestamp(), statement_timestamp())
on conflict (index, id, routing) do update
set version = excluded.version, status = excluded.status, error_type = excluded.error_type,
    reason = excluded.reason, last_at = excluded.last_at, tries = d.tries + 1
