-- Starts a reindex of an alias, unless the pipeline has no such index. It takes the number that the counter has.
--   ?1  the pipeline
--   ?2  the alias
--   ?3  what the mapping file of the new index says
--   ?4  how long the other generation is followed after each swap, in seconds
--   ?5  how many documents a second are written or compared at most; null: no limit
insert into {schema}_reindex (id, pipeline, alias, mapping, keep, live, max_rate)
select c.reindex, i.pipeline, i.alias, ?3, ?4, i.id, ?5
from {schema}_index as i, {schema}_counter as c
where i.pipeline = ?1 and i.alias = ?2
