-- name: add_pipeline
-- Makes a pipeline, with a checkpoint at the snapshot of this transaction.
--   {pipeline}, {name}  its id, and its name as a literal
insert into {schema}.pipeline (id, name) overriding system value values ({pipeline}, {name});
insert into {schema}.checkpoint (pipeline, prev) values ({pipeline}, pg_current_snapshot());

-- name: define_index
-- Makes an index, or brings it in line, with the jobs that make its documents what the view gives.
--   {id}, {pipeline}  ids; the other values are literals, {fields} and {view_oid} what their columns need
--   added, changed    one of the two, once
--   tracks            once for each: {capture}, {resolver} (null: the values are the _ids)
--   jobs              once for each: {kind}, {total} documents or null, {reason}; a job of the kind that has not begun
--                     would do the same work
{#added}
insert into {schema}.index (id, pipeline, alias, view, id_type, routed, fields, definition, view_text, configured)
overriding system value
values ({id}, {pipeline}, {alias}, {view}, {id_type}, {routed}, {fields}, {definition},
        md5(pg_get_viewdef({view_oid}::oid)), {configured});
{/added}
{#changed}
update {schema}.index
set view = {view}, id_type = {id_type}, routed = {routed}, fields = {fields}, definition = {definition},
    view_text = md5(pg_get_viewdef({view_oid}::oid)), configured = {configured}
where id = {id};
delete from {schema}.set_aside where index = {id};
delete from {schema}.track where index = {id};
{/changed}
{#tracks}
insert into {schema}.track (index, capture, resolver) values ({id}, {capture}, {resolver});
{/tracks}
{#jobs}
delete from {schema}.job where index = {id} and kind = {kind} and position is null;
insert into {schema}.job (pipeline, index, kind, total, reason) values ({pipeline}, {id}, {kind}, {total}, {reason});
{/jobs}

-- name: define_generation
-- Gives a reindex that was started just now its next generation: an index that is not followed yet. Its definition is the
-- text $3; `apply` makes the rest of it accordingly. No real index has a name with a blank.
--   $1  the pipeline
--   $2  the alias
--   $3  its part of the configuration file
with made as (
  insert into {schema}.index (pipeline, alias, view, id_type, routed, fields, definition, view_text, configured, followed)
  select i.pipeline, i.alias || ' (next)', i.view, i.id_type, i.routed, i.fields, '', i.view_text, $3, false
  from {schema}.index as i
  where i.pipeline = $1 and i.alias = $2
  returning id
)
update {schema}.reindex as r
set beside = m.id
from made as m
where r.pipeline = $1 and r.alias = $2

-- name: add_capture
-- Makes a capture.
--   {id}, {pipeline}  ids; the other values are literals, {columns} an array of texts or null
insert into {schema}.capture (id, pipeline, relation, expression, value_type, columns)
overriding system value
values ({id}, {pipeline}, {relation}, {expression}, {value_type}, {columns});

-- name: refill_indices
-- Lets indices be filled again, and makes the pipeline's leader notice. A backfill that has not begun would do the same
-- work; but a leader about to begin it may have read a page already.
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

-- name: applied_indices
-- The indices of a pipeline. What an older Lockstep's schema lacks is read as JSON.
--   $1  the pipeline
select id, alias, view, id_type, routed, to_json(fields)::text as fields, definition,
       coalesce(to_jsonb(i) ->> 'configured', ''), coalesce((to_jsonb(i) ->> 'followed')::boolean, true)
from {schema}.index as i
where pipeline = $1
order by id

-- name: applied_aliases
-- The aliases of a pipeline's indices. The schema of an older lockstep lacks the column followed.
--   $1  the pipeline's name
select i.alias
from {schema}.index as i
  join {schema}.pipeline as p on p.id = i.pipeline
where p.name = $1 and (to_jsonb(i) ->> 'followed') is distinct from 'false'
order by i.id

-- name: applied_captures
-- The captures of a pipeline.
--   $1  the pipeline
select id, relation, expression, value_type, to_json(columns)::text
from {schema}.capture
where pipeline = $1
order by id

-- name: applied_functions
-- The functions that `apply` has made in Lockstep's schema.
--   $1  name of the schema
select p.proname, p.prosrc,
       coalesce((select string_agg(s.setting, e'\n' order by s.setting collate "C") from unnest(p.proconfig) as s(setting)), ''),
       p.prosecdef, pg_get_function_identity_arguments(p.oid)
from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
where n.nspname = $1 and (p.proname like 'capture\_%' or p.proname like 'resolve\_%')
order by 1

-- name: applied_triggers
-- The triggers that call one of Lockstep's functions.
--   $1  name of the schema
select t.tgrelid, t.tgrelid::regclass::text, t.tgname, quote_ident(t.tgname), p.proname, t.tgtype,
       t.tgenabled::text,
       coalesce(t.tgoldtable, '') in ('', 'old_rows') and coalesce(t.tgnewtable, '') in ('', 'new_rows')
         and t.tgqual is null and t.tgattr::text = ''
         and (t.tgoldtable is null) = (t.tgtype not in (8, 16)) and (t.tgnewtable is null) = (t.tgtype not in (4, 16))
from pg_trigger as t
join pg_proc as p on p.oid = t.tgfoid
join pg_namespace as n on n.oid = p.pronamespace
where n.nspname = $1 and not t.tgisinternal
order by 2, 3

-- name: has_own_tables
-- Whether Lockstep's tables are in a schema. By the catalog: to_regclass needs the right to use the schema.
--   $1  name of the schema
select exists (
  select 1
  from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relname = 'migration'
)
