-- A table, or the whole table of which it is a partition.
--   $1  oid
select coalesce(pg_partition_root($1::oid::regclass), $1::oid::regclass)::oid
