-- Remembers the routings under which documents are about to be written.
--   $1  the index
--   $2  version of the writes
--   $3, $4  ids and routings of the documents
insert into {schema}.route as r (index, id, routing, version)
select $1, u.id, u.routing, $2 from unnest($3::text[], $4::text[]) as u(id, routing)
on conflict (index, id, routing) do update set version = excluded.version
