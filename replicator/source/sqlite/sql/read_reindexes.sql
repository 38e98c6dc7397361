-- The reindexes of a pipeline, oldest first.
--   ?1  the pipeline
select id, alias, state, mapping, live, beside, live_name, beside_name, wanted, forced, kept_until is not null,
       max(coalesce(kept_until - cast(strftime('%s', 'now') as integer), 0), 0), reason, failure
from {schema}_reindex
where pipeline = ?1
order by id
