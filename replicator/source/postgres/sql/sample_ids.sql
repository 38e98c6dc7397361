-- What is wrong with a view's _id, judged by some of its rows.
--   {view}
-- Rows looked at, those without _id, one _id that several rows of the whole view have, the longest in bytes.
with sample as materialized (
  select v._id from {view} as v limit 1000
)
select (select count(*) from sample), (select count(*) from sample where _id is null),
       (select v._id::text from {view} as v
        where v._id = any(array(select _id from sample where _id is not null limit 200))
        group by v._id having count(*) > 1 limit 1),
       (select max(octet_length(_id::text)) from sample)
