-- Whether every pipeline has passed all rows of a leaf, and no fan-out needs one for its list. The fan-outs of an index that
-- is set aside need none: it will be compared.
--   leaf  its quoted name
select not exists (
  select 1 from {leaf}
  where txid >= (select coalesce(min(pg_snapshot_xmin(c.prev)::text::numeric)::text, '0')::xid8 from {schema}.checkpoint as c)
) and not exists (
  select 1
  from {schema}.job as j
  where j.transaction is not null
    and not exists (select 1 from {schema}.set_aside as a where a.index = j.index)
    and exists (select 1 from {leaf} as o where o.txid = j.transaction and o.id > j.read_to)
)
