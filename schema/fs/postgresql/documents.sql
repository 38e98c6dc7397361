-- fs.documents: the search documents of fs.nodes, one for each file and each directory (config/fs.toml).
--
--   _id       fs.nodes.id, which survives every rename and move
--   name      README.txt
--   path      the directory it is in, "/clinton/projects"; "/" for what is in the root
--   kind      directory | file
--   contents  a file's text; null for a directory and where it isn't text
--
-- The root has no document: it has neither a name nor a directory that it is in, and no search could want it.
--
-- The way to the root is walked up for one parent_id at a time. From PostgreSQL 14 on, the plan remembers the path of each
-- parent_id ("Memoize"), so that a chunk of 5,000 documents from a few directories walks few times: 190,000 documents a
-- second instead of 58,000, six levels deep. A plan that was made without knowing how many ids there are doesn't:
-- plan_cache_mode = force_custom_plan. Other forms that were measured: the walk as a scalar sub-select, never remembered
-- (61,000); six outer joins and the walk for what is deeper (155,000 and 76,000); names gathered by string_agg
-- (218,000 and 46,000). Pages by "_id > $1 order by _id limit n" come straight from the primary key, and only the paths
-- of the page are made.
--
-- Everything stands in the view itself, no function hides what it reads: so the triggers know that it depends on id,
-- parent_id, name, kind and contents of fs.nodes, and on nothing else.
create or replace view fs.documents as
select n.id as _id, n.name, above.path, n.kind, n.contents
from fs.nodes n
cross join lateral (
  with recursive up (parent_id, path) as (
    select n.parent_id, null
    union all
    select p.parent_id, p.name || coalesce('/' || up.path, '') from up join fs.nodes p on p.id = up.parent_id
  )
  select coalesce(nullif(up.path, ''), '/') as path from up where up.parent_id is null
) above
where n.parent_id is not null;
