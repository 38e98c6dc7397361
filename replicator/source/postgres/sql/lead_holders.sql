-- Who holds the advisory lock of the lead, a number of 64 bits in two halves: the number in force, and the one that every
-- version of lockstep knows. Whoever may write the checkpoint is one of lockstep's, also by a role that it may take on. A
-- session that ends just now still counts as one; a prepared transaction never leads.
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
