-- Lets indices be filled again, and makes whoever runs the pipeline notice.
--   $1  the pipeline's name
--   $2  aliases
--   $3  why, in words
with wanted as (
  select i.pipeline, i.id
  from {schema}.index as i
    join {schema}.pipeline as p on p.id = i.pipeline
  where p.name = $1 and i.alias = any($2::text[])
), added as (
  insert into {schema}.job (pipeline, index, kind, reason)
  select w.pipeline, w.id, 'backfill', $3
  from wanted as w
  where not exists (
    select 1 from {schema}.job as j where j.index = w.id and j.kind = 'backfill' and j.position is null)
)
update {schema}.pipeline as p
set applied_at = clock_timestamp()
where p.id in (select w.pipeline from wanted as w)
