-- Starts a reindex of an alias, in place of one that has failed. No row: the alias has one.
--   $1  the pipeline
--   $2  the alias
--   $3  what the mapping file of the new index says
--   $4  how long the other generation is followed after each swap, in seconds
--   $5  how many documents a second are written or compared at most; null: no limit
insert into {schema}.reindex as r (pipeline, alias, mapping, keep, live, max_rate)
select i.pipeline, i.alias, $3, make_interval(secs => $4::bigint), i.id, $5
from {schema}.index as i
where i.pipeline = $1 and i.alias = $2
on conflict (pipeline, alias) do update
set state = 'creating', mapping = excluded.mapping, keep = excluded.keep, live = excluded.live, max_rate = excluded.max_rate, kept_until = null, wanted = null,
    forced = false, reason = '', failure = '', beside = null, live_name = '', beside_name = '',
    started_at = clock_timestamp(), changed_at = clock_timestamp()
where r.state = 'failed'
returning r.id
