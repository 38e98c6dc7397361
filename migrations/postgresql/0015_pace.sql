-- How fast a reindex may be, and how fast the last job over a whole index was.
alter table {schema}.reindex
  add column max_rate bigint check (max_rate > 0);  -- documents a second to write and compare at most; null: no limit

create table {schema}.pace (
  index        integer not null references {schema}.index on delete cascade,
  kind         text not null check (kind in ('backfill', 'comparison')),
  documents    bigint not null check (documents > 0),
  milliseconds bigint not null check (milliseconds > 0),
  primary key (index, kind)
);
comment on table {schema}.pace is 'how fast the last job over a whole index was';

-- Whoever may take a reindex on measures it, too.
do $lockstep$
declare
  grantee name;
begin
  for grantee in
    select distinct r.rolname
    from pg_catalog.pg_class as c
      cross join lateral pg_catalog.aclexplode(c.relacl) as a
      join pg_catalog.pg_roles as r on r.oid = a.grantee
    where c.reltype = pg_catalog.pg_typeof(null::{schema}.reindex) and a.privilege_type = 'UPDATE'
  loop
    execute pg_catalog.format('grant select, insert, update on %s to %I', pg_catalog.pg_typeof(null::{schema}.pace), grantee);
  end loop;
end
$lockstep$;
