-- The documents of a fan-out job in pages, a row a page: hundreds of thousands of rows, one for each document, would keep the tail
-- waiting while they are written.
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
