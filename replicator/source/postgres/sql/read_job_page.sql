-- The next documents of a fan-out's list, the number of the last of them, and whether none follow.
--   $1  job
--   $2  number behind which they are
--   $3  documents at most
select p.ids[p.skipped + 1 : p.skipped + $3::bigint]::text, p.last,
       not exists (select 1 from {schema}.job_page as behind where behind.job = $1 and behind.number > p.last)
from (
  select page.ids, begin.skipped::integer as skipped,
         least(page.number, page.number - cardinality(page.ids) + begin.skipped + $3::bigint) as last
  from (
    select number, ids from {schema}.job_page where job = $1 and number > $2::bigint order by number limit 1
  ) as page
  cross join lateral (
    select greatest(0, $2::bigint - (page.number - cardinality(page.ids))) as skipped
  ) as begin
) as p
