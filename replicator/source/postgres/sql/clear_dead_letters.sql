-- Forgets the dead letters of documents that have been applied since.
delete from {schema}.dead_letter as d
using unnest($1::integer[], $2::text[], $3::bigint[]) as a(index, id, version)
where d.index = a.index and d.id = a.id and d.version <= a.version
