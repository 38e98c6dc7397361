-- Whether values that a track takes as ids are ids of its view, judged by some rows.
--   {expression}, {relation}, {alias}  what is captured of which table
--   {view}, {id_type}
-- Values looked at, documents that have one of them as their id, whether there are documents at all.
with sample as materialized (
  select ({expression}
         )::text as value
  from {relation} as {alias} limit 100
)
select (select count(*) from sample where value is not null),
       (select count(*) from {view} as v where v._id = any(array(select value::{id_type} from sample where value is not null))),
       exists (select from {view})
