-- Lets indices be filled again, and makes whoever runs the pipeline notice. A backfill that nobody has begun would do the same
-- work; but who is about to begin it may have read a page already.
--   $1  the pipeline's name
--   $2  aliases
--   $3  why, in words
with wanted as (
  select i.pipeline, i.id
  from {schema}.index as i
    join {schema}.pipeline as p on p.id = i.pipeline
  where p.name = $1 and i.alias = any($2::text[])
), replaced as (
  delete from {schema}.job as j
  where j.index in (select w.id from wanted as w) and j.kind = 'backfill' and j.position is null
), added as (
  insert into {schema}.job (pipeline, index, kind, reason)
  select w.pipeline, w.id, 'backfill', $3
  from wanted as w
)
update {schema}.pipeline as p
set applied_at = clock_timestamp()
where p.id in (select w.pipeline from wanted as w)
