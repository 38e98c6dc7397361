-- What is due of each index of a pipeline: documents on pages, changes whose documents are still to be found, whether a
-- large transaction is among them, the least number that it is due since and the greatest number, the seconds since the
-- oldest became due, and its reason.
--   $1  the pipeline
select d.index, coalesce(sum(d.documents), 0)::bigint, count(*) filter (where d.ids is null),
       bool_or(d.transaction is not null), min(coalesce(d.since, d.number)), max(d.number),
       greatest(extract(epoch from clock_timestamp() - min(d.due_at)), 0)::float8, (array_agg(d.reason order by d.due_at, d.number))[1]
from {schema}.due as d
where d.index in (select i.id from {schema}.index as i where i.pipeline = $1) and d.due_at <= clock_timestamp()
group by d.index
order by d.index
