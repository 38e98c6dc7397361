-- Renders documents up to about so many bytes of JSON; those beyond come with json null.
--   columns  the document's fields, each "v.name"
--   view, routing, filter
--   $1  bytes
select d.id, d.routing,
       case when d.bytes_before < $1::bigint then d.json end
from (
  select r.id, r.routing, r.json,
         coalesce(sum(octet_length(r.json)) over (rows between unbounded preceding and 1 preceding), 0) as bytes_before
  from (
    select v._id::text as id, {routing} as routing,
           (select row_to_json(f.*) from (select {columns}) as f)::text as json -- not "f": a column of that name would win
    from {view} as v
    where {filter}
    offset 0 -- or json would be made twice, for itself and for its length
  ) as r
) as d
