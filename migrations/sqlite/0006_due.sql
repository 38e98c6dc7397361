-- One list of what is due for each index, in place of fan-out jobs: changes whose documents are still to be found, large
-- changes whose rows are still to be read, and pages of documents that are to be written.
create table {schema}_due (
  number     integer primary key,    -- in the order in which things become due; never given twice: see {schema}_counter
  index_id   integer not null,
  since      integer,                -- of a page: the least number of what it comes from; null: its own
  as_of      integer,                -- a rendering under this version makes up for it; null: only one that is still to come
  due_at     integer not null,       -- milliseconds since 1970
  not_before integer not null default 0,   -- likewise
  reason     text not null,          -- in words, for `status`
  capture    integer,                -- a change: what the triggers have written
  keys       text,                   -- its values, a JSON array
  read_from  integer,                -- a large change: the rows of the outbox behind this one,
  read_to    integer,                -- up to this one
  ids        text,                   -- a page of documents: a JSON array of texts
  documents  integer,                -- their number
  check ((keys is not null) + (read_to is not null) + (ids is not null) = 1)
);
create index {schema}_due_index on {schema}_due (index_id, number);

alter table {schema}_counter add column due integer not null default 0;

insert into {schema}_due (index_id, due_at, reason, ids, documents)
select j.index_id, cast((julianday('now') - 2440587.5) * 86400000 as integer), j.reason, p.ids, json_array_length(p.ids)
from {schema}_job as j join {schema}_job_page as p on p.job = j.id
order by p.job, p.number;

insert into {schema}_due (index_id, due_at, reason, capture, keys)
select j.index_id, cast((julianday('now') - 2440587.5) * 86400000 as integer), j.reason, c.capture, c.keys
from {schema}_job as j join {schema}_job_change as c on c.job = j.id
where j.total is null
order by j.id;

insert into {schema}_due (index_id, due_at, reason, read_from, read_to)
select j.index_id, cast((julianday('now') - 2440587.5) * 86400000 as integer), j.reason, j.read_from, j.read_to
from {schema}_job as j
where j.read_to is not null
order by j.id;

update {schema}_counter set due = coalesce((select max(number) from {schema}_due), 0);
delete from {schema}_job where kind = 'fan_out';
alter table {schema}_job drop column behind;
alter table {schema}_job drop column read_from;
alter table {schema}_job drop column read_to;
drop table {schema}_job_page;
drop table {schema}_job_change;
