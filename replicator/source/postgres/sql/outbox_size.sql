-- Bytes on disk, with indexes.
select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
from pg_class as c join {schema}.capture_state as s
  on c.relnamespace = (select q.relnamespace from pg_class as q where q.oid = s.tableoid)
where c.relname in ('outbox_0', 'outbox_1', 'outbox_2')
