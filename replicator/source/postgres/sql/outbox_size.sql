-- Bytes of the outbox's leaves on disk, with indexes. The outbox is found beside capture_state, since the name of
-- lockstep's schema cannot be written into a text.
select coalesce(sum(pg_total_relation_size(l.inhrelid)), 0)::bigint
from {schema}.capture_state as s
  join pg_class as q on q.oid = s.tableoid
  join pg_class as o on o.relnamespace = q.relnamespace and o.relname = 'outbox'
  join pg_inherits as l on l.inhparent = o.oid
