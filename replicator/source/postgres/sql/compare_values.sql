-- Whether values that a track takes as ids are ids of its view, judged by some rows.
--   {expression}, {relation}, {alias}  what is captured of which table
--   {view}, {id_type}
-- Values looked at, documents that have one of them as their id, whether there are documents at all; and where no
-- document has one, whether ids of some documents are values of the table: a view may keep few of its rows.
with sample as materialized (
  select ({expression}
         )::text as value
  from {relation} as {alias} limit 100
), found as materialized (
  select count(*) as documents from {view} as v
  where v._id = any(array(select value::{id_type} from sample where value is not null))
)
select (select count(*) from sample where value is not null),
       (select documents from found),
       exists (select from {view}),
       case when (select documents from found) = 0 then
         exists (select from {relation} as {alias}
                 where ({expression}
                       )::text = any(array(select v._id::text from {view} as v limit 100)))
       else false end
