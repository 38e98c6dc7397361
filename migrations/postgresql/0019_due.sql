-- One list of what is due for each index, in place of fan-out jobs: changes whose documents are still to be found, large
-- transactions whose rows are still to be read, and pages of documents that are to be written.
create table {schema}.due (
  number      bigint generated always as identity primary key,  -- in the order in which things become due
  index       integer not null references {schema}.index on delete cascade,
  since       bigint,                -- of a page: the least number of what it comes from; null: its own
  as_of       bigint,                -- a rendering under this version makes up for it; null: only one that is still to come
  due_at      timestamptz not null default clock_timestamp(),
  not_before  timestamptz not null default '-infinity',
  reason      text not null,         -- in words, for `status`
  capture     integer,               -- a change: what the triggers have written
  keys        text[],
  transaction xid8,                  -- a large transaction: whose rows are still in the outbox
  read_to     bigint,                -- id of the last of its rows whose documents are found
  ids         text[],                -- a page of documents
  documents   integer,               -- their number
  check (num_nonnulls(keys, transaction, ids) = 1),
  check ((capture is null) = (keys is null)),
  check ((read_to is null) = (transaction is null)),
  check ((documents is null) = (ids is null))
);
create index due_of_index on {schema}.due (index, number);
comment on table {schema}.due is 'what has to be rendered and written again';

insert into {schema}.due (index, reason, due_at, ids, documents)
select j.index, j.reason, j.created_at, p.ids, cardinality(p.ids)
from {schema}.job as j join {schema}.job_page as p on p.job = j.id
order by p.job, p.number;

insert into {schema}.due (index, reason, due_at, capture, keys)
select j.index, j.reason, j.created_at, c.capture, c.keys
from {schema}.job as j join {schema}.job_change as c on c.job = j.id
where j.total is null and j.transaction is null
order by j.id;

insert into {schema}.due (index, reason, due_at, transaction, read_to)
select j.index, j.reason, j.created_at, j.transaction, j.read_to
from {schema}.job as j
where j.transaction is not null
order by j.id;

delete from {schema}.job where kind = 'fan_out';
alter table {schema}.job drop constraint job_kind_check;
alter table {schema}.job add constraint job_kind_check check (kind in ('backfill', 'comparison', 'sweep'));
alter table {schema}.job drop column behind, drop column joined, drop column transaction, drop column read_to;
drop table {schema}.job_page, {schema}.job_change;

-- Those that do the jobs write what is due.
do $lockstep$
declare
  grantee name;
begin
  for grantee in
    select distinct r.rolname
    from pg_catalog.pg_class as c
      cross join lateral pg_catalog.aclexplode(c.relacl) as a
      join pg_catalog.pg_roles as r on r.oid = a.grantee
    where c.reltype = pg_catalog.pg_typeof(null::{schema}.job) and a.privilege_type = 'UPDATE' and a.grantee <> c.relowner
  loop
    execute pg_catalog.format('grant select, insert, update, delete on %s to %I', pg_catalog.pg_typeof(null::{schema}.due), grantee);
  end loop;
end
$lockstep$;
