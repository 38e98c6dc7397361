-- The names of the outbox's leaves, as the first migration has made them.
select 'outbox_' || l.slot, l.slot
from generate_series(0, 2) as l(slot)
order by l.slot
