-- documents, documents_by_id: the search documents of nodes, column by column those of schema/fs/postgresql.
-- config/fs-sqlite.toml has the tracks.

drop view if exists documents;
create view documents as
select n.id as _id, n.name,
       (with recursive up (parent_id, path) as (
          select n.parent_id, null
          union all
          select p.parent_id, p.name || coalesce('/' || up.path, '') from up join nodes p on p.id = up.parent_id
        )
        select coalesce(nullif(up.path, ''), '/') from up where up.parent_id is null) as path,
       n.kind, n.contents
from nodes n
where n.parent_id is not null;

drop view if exists documents_by_id;
create view documents_by_id as
select n.id as _id, n.name, n.parent_id,
       (with recursive up (parent_id, ancestors) as (
          select n.parent_id, null
          union all
          select p.parent_id, p.id || coalesce(',' || up.ancestors, '') from up join nodes p on p.id = up.parent_id
        )
        select json('[' || up.ancestors || ']') from up where up.parent_id is null) as ancestors,
       n.kind, n.contents
from nodes n
where n.parent_id is not null;
