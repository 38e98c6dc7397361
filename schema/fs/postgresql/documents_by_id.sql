-- fs.documents_by_id: the same documents with the way to the root as ids instead of names (config/fs-by-id.toml), so that
-- a directory's new name changes its own document and no other. A move to another directory still changes all below.
--
--   _id        fs.nodes.id
--   name       README.txt
--   parent_id  the directory it is in; the root's id for what is in the root
--   ancestors  all directories it is in, the root first, parent_id last
--   kind       directory | file
--   contents   a file's text; null for a directory and where it isn't text
--
-- The root has no document. What was said in documents.sql about plans holds here too.
create or replace view fs.documents_by_id as
select n.id as _id, n.name, n.parent_id, above.ancestors, n.kind, n.contents
from fs.nodes n
cross join lateral (
  with recursive up (parent_id, ancestors) as (
    select n.parent_id, array[]::bigint[]
    union all
    select p.parent_id, p.id || up.ancestors from up join fs.nodes p on p.id = up.parent_id
  )
  select up.ancestors from up where up.parent_id is null
) above
where n.parent_id is not null;
