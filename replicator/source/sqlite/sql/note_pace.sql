-- Notes how fast the last job of a kind over a whole index was, unless the index is gone.
--   ?1  the index
--   ?2  the kind of job
--   ?3  how many documents
--   ?4  in how many milliseconds
insert or replace into {schema}_pace (index_id, kind, documents, milliseconds)
select i.id, ?2, ?3, ?4
from {schema}_index as i
where i.id = ?1
