-- Notes how fast the last job of a kind over a whole index was, unless the index is gone.
--   $1  the index
--   $2  the kind of job
--   $3  how many documents
--   $4  in how many milliseconds
insert into {schema}.pace as p (index, kind, documents, milliseconds)
select i.id, $2, $3, $4
from {schema}.index as i
where i.id = $1
on conflict (index, kind) do update
set documents = excluded.documents, milliseconds = excluded.milliseconds
