-- Whether the outbox is below the smallest max_outbox_size of the schema's pipelines, or none has one.
--   outbox_size  outbox_size.sql
select coalesce(({outbox_size}) < (select min(p.max_outbox_size) from {schema}.pipeline as p), true)
