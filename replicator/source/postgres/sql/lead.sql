-- name: place
-- Names the cluster and the database: an expression.
(select (pg_control_system()).system_identifier || '/' || d.oid
 from pg_catalog.pg_database as d where d.datname = current_database())

-- name: place_without_wal
-- The same where the server does not name its cluster: the database and Lockstep's schema in it, which is another one after
-- a restored dump.
(select 'unnamed/' || d.oid || '/' || to_regnamespace({schema_text})::oid
 from pg_catalog.pg_database as d where d.datname = current_database())

-- name: identify_source
-- Which database this is, as which the last leader knew it, the timeline, how far it has come, and which table the checkpoint
-- is: another one once a dump was restored over it.
--   $1  the pipeline
--   place, unnamed_place  as in session/place.h
--   timeline, progress    as in SourceIdentity
select {place}, {unnamed_place},
       coalesce(c.partners ->> 'place', ''),
       coalesce(c.partners ->> 'unnamed_place', c.partners ->> 'place', ''),
       {timeline}, {progress},
       c.tableoid::text
from (select $1::integer as pipeline) as p
  left join {schema}.checkpoint as c on c.pipeline = p.pipeline

-- name: lead_keys
-- The number that follows from a pipeline's identity, and the number in force.
--   $1  the pipeline
--   $2  its identity
select hashtextextended($2::text, 0), coalesce(c.lead_key, hashtextextended($2::text, 0))
from {schema}.checkpoint as c
where c.pipeline = $1

-- name: lead_holders
-- The holders of the leader's advisory lock, a number of 64 bits in two halves: the number in force, and the one that every
-- version of lockstep knows. A session that may write the checkpoint is one of Lockstep's, also by a role that it may take
-- on. A session that ends just now still counts as one; a prepared transaction never leads.
--   $1  identity of the pipeline
with lead as (
  select hashtextextended($1::text, 0) as first, c.lead_key, c.tableoid as checkpoint
  from {schema}.pipeline as p join {schema}.checkpoint as c on c.pipeline = p.id
  where p.identity = $1::text::uuid
)
select l.classid::bigint << 32 | l.objid::bigint as key, coalesce(l.pid, 0), coalesce(quote_ident(u.rolname), ''),
       coalesce(a.application_name, ''),
       coalesce(to_char(a.backend_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), ''),
       case when l.pid is null then false
            when a.usesysid is null then true
            else exists (select from pg_roles as r
                         where has_table_privilege(r.oid, lead.checkpoint, 'update')
                           and pg_has_role(a.usesysid, r.oid, 'member')) end as is_lockstep
from lead
  join pg_locks as l on l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select d.oid from pg_database as d where d.datname = current_database())
    and (l.classid::bigint << 32 | l.objid::bigint) in (lead.first, coalesce(lead.lead_key, lead.first))
  left join pg_stat_activity as a on a.pid = l.pid
  left join pg_roles as u on u.oid = a.usesysid
order by l.pid

-- name: raise_epoch
-- Raises a pipeline's epoch and notes both sides.
--   $1  the pipeline
--   $2  an epoch that the new one must be above
--   $3  which database this is
--   $4  JSON: by index the uuid of its real index
--   place, unnamed_place  as in session/place.h; who may know more of the database than the last leader notes that
update {schema}.checkpoint
set epoch = greatest(epoch, $2::bigint) + 1,
    partners = jsonb_build_object('place', case when $3::text = {unnamed_place} then {place} else $3::text end,
                                  'unnamed_place', {unnamed_place}, 'targets', $4::jsonb)
where pipeline = $1
returning epoch

-- name: load_indices
-- The indices of a pipeline with their tracks, a row for each track; an index without tracks has one row.
--   $1  the pipeline
select i.id, i.alias, i.view, i.id_type, i.routed, to_json(i.fields)::text as fields,
       case when a.index is not null then coalesce(nullif(a.reason, ''), 'no reason is stored') end,
       c.id, c.value_type, coalesce(t.resolver, ''), i.written_by, r.alias
from {schema}.index as i
  left join {schema}.set_aside as a on a.index = i.id
  left join {schema}.reindex as r on r.beside = i.id
  left join {schema}.track as t on t.index = i.id
  left join {schema}.capture as c on c.id = t.capture
where i.pipeline = $1 and i.followed
order by i.id, t.id
