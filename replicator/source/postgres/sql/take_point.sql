-- A snapshot of all that is committed, and of what it sees: a part of a tracked table that is not followed yet, in words (null:
-- there is none), and whether parts may have been followed after a transaction.
--   changed_parts  find_changed_parts.sql
--   $1, $2         of that
--   $3             the transaction; null: none in particular
select pg_current_snapshot()::text,
       (select d.change from ({changed_parts}) as d (relation, function, part, change) limit 1),
       coalesce((select p.parts_followed > $3::xid8 from {schema}.pipeline as p where p.id = $1), false)
