-- The documents of a fan-out job in pages, a row a page: hundreds of thousands of rows, one for each document, would take their time.
create table {schema}.job_page (
  job    bigint not null references {schema}.job on delete cascade,
  number bigint not null,            -- of its last document; the first of a job is 1
  ids    text[] not null,
  primary key (job, number)
);
comment on table {schema}.job_page is 'documents of fan-out jobs that are still to be written';

insert into {schema}.job_page (job, number, ids)
select d.job, max(d.number), array_agg(d.id order by d.number)
from {schema}.job_document as d
group by d.job, (d.number - 1) / 2000;

drop table {schema}.job_document;

-- The changes that a fan-out job is made of. Its documents are found beside the tail, which would have to wait for that; until then
-- job.total is null.
create table {schema}.job_change (
  job     bigint not null references {schema}.job on delete cascade,
  capture integer not null,
  keys    text[] not null
);
create index job_change_job on {schema}.job_change (job);
comment on table {schema}.job_change is 'changes of which fan-out jobs are made';
