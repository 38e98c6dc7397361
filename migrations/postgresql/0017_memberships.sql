-- A part that was detached and attached again has the same tables above it as before. So `above` holds, for each of them, the
-- row of pg_inherits that leads to it: "OID XMIN", whose xmin never comes back.
alter table {schema}.pipeline
  add column if not exists parts_followed xid8;    -- transactions before it may have rows that were noted when a part was last followed
comment on column {schema}.pipeline.parts_followed is 'the first transaction after parts of tables were last followed';

create or replace function {schema}.tables_above_with_xmin(part oid) returns text[]
language sql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off as $lockstep$
  with recursive above (oid, since) as (
    select i.inhparent, i.xmin::text from pg_inherits as i
    where i.inhrelid = part and (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
    union
    select i.inhparent, i.xmin::text from above as a join pg_inherits as i on i.inhrelid = a.oid
    where (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
  )
  select coalesce(array_agg(a.oid || ' ' || a.since order by a.oid, a.since collate "C"), '{}') from above as a
$lockstep$;
revoke all on function {schema}.tables_above_with_xmin(oid) from public;

-- Those that moved since they were last looked at stay different.
alter table {schema}.part
  alter column above type text[] using
    case when above = {schema}.tables_above(table_oid) then {schema}.tables_above_with_xmin(table_oid) else above::text[] end;

-- Under the name that the functions of earlier applies call, for whoever may call it.
do $lockstep$
declare
  grantee name;
begin
  for grantee in
    select distinct r.rolname
    from pg_catalog.pg_proc as p
      cross join lateral pg_catalog.aclexplode(p.proacl) as a
      join pg_catalog.pg_roles as r on r.oid = a.grantee
    where p.proname = 'tables_above' and p.pronamespace = pg_catalog.quote_ident(current_schema())::pg_catalog.regnamespace
      and a.grantee <> p.proowner
  loop
    execute pg_catalog.format('grant execute on function tables_above_with_xmin(oid) to %I', grantee);
  end loop;
end
$lockstep$;
drop function {schema}.tables_above(oid);
alter function {schema}.tables_above_with_xmin(oid) rename to tables_above;
