-- The columns of each unique key of a table that no two of its rows share, those of its children among them.
--   $1  oid
select i.indkey[0:i.indnkeyatts - 1]::integer[]
from pg_index as i join pg_class as c on c.oid = i.indrelid
where i.indrelid = $1::oid and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
  and (c.relkind = 'p' or not exists (select from pg_inherits as h where h.inhparent = c.oid))
