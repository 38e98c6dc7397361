-- The leaves of the outbox, and which of them the triggers write into now: the next one every 600 seconds. As the
-- first migration has made them; nothing else in lockstep counts leaves or seconds.
select 'outbox_' || l.slot, l.slot = extract(epoch from now())::bigint / 600 % 3
from generate_series(0, 2) as l(slot)
order by l.slot
