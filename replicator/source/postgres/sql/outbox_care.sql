-- The leaves of the outbox: slot, bytes on disk, how many of them are noted as passed, whether transactions write into it,
-- whether it has no rows on disk, and the smallest max_outbox_size of the schema's pipelines, null without one.
select l.slot, l.bytes, l.passed, l.is_written, l.is_empty, (select min(p.max_outbox_size) from {schema}.pipeline as p)
from {schema}.outbox_leaves() as l
order by l.slot
