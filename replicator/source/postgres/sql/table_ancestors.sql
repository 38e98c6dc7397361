-- The tables that a table is a partition of or inherits from, at any depth.
--   $1  oid
with recursive above (oid) as (
  select i.inhparent from pg_inherits as i where i.inhrelid = $1::oid
  union
  select i.inhparent from above join pg_inherits as i on i.inhrelid = above.oid
)
select oid::regclass::text from above
