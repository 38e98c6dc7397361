-- Which of the documents refused are no dead letters: the first position of each in the arrays, counted from 0.
--   $1, $2, $3  indices, ids and routings
select min(r.place) - 1
from unnest($1::integer[], $2::text[], $3::text[]) with ordinality as r(index, id, routing, place)
where not exists (
  select 1 from {schema}.dead_letter as d where d.index = r.index and d.id = r.id and d.routing = r.routing)
group by r.index, r.id, r.routing
order by 1
