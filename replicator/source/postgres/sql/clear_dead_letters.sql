-- Forgets the dead letters of documents that Elasticsearch has applied since.
--   $1, $2, $3  indices, ids and versions of the documents
delete from {schema}.dead_letter as d
using unnest($1::integer[], $2::text[], $3::bigint[]) as a(index, id, version)
where d.index = a.index and d.id = a.id and d.version <= a.version
