-- Whether every pipeline has passed all rows of a leaf.
--   leaf  its quoted name
select not exists (
  select 1 from {leaf}
  where txid >= (select coalesce(min(pg_snapshot_xmin(c.prev)::text::numeric)::text, '0')::xid8 from {schema}.checkpoint as c))
