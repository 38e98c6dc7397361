-- Whether a subscription fills a table, by itself or as a partition of one that it names: its changes fire no statement
-- trigger. An expression for other statements.
--   {table}  the table's oid
exists (select from pg_subscription_rel as s
        where s.srrelid = {table} or s.srrelid in (select p.relid from pg_partition_ancestors({table}) as p(relid)))
