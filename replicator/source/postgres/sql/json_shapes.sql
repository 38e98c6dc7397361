-- What the values of a JSON column of a table or view are, by some of them; of arrays: what their elements are.
--   {column}, {view}
select distinct jsonb_typeof(e.value)
from (select v.{column}::jsonb as value from {view} as v where v.{column} is not null limit 100) as s
cross join lateral jsonb_path_query(s.value, 'lax $[*]') as e(value)
where jsonb_typeof(e.value) <> 'null'
