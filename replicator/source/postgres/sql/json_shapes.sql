-- What the values of a column of JSON or of a composite type are, by some of them; of arrays: what their elements are.
--   {column}, {view}
select distinct jsonb_typeof(e.value)
from (
  select to_jsonb(v.{column}) as value from {view} as v where to_jsonb(v.{column}) is not null limit 100
) as s
cross join lateral jsonb_path_query(s.value, 'lax $[*]') as e(value)
where jsonb_typeof(e.value) <> 'null'
