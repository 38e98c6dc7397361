-- Whether an operator is the "=" of a B-tree.
--   $1  oid of the operator
select exists (
  select 1
  from pg_amop as f join pg_am as m on m.oid = f.amopmethod
  where m.amname = 'btree' and f.amopstrategy = 3 and f.amopopr = $1::oid
)
