-- nodes: a file system in one table, one row a file or directory, for SQLite 3.38 and newer. The same as
-- schema/fs/postgresql/nodes.sql, which says why it is as it is.
--
-- Every connection that writes must switch foreign keys on, as always in SQLite: pragma foreign_keys = on;
-- Without it a directory's removal leaves what was in it behind.

create table if not exists nodes (
  id        integer primary key autoincrement, -- an id never comes back for another file
  parent_id integer references nodes (id) on delete cascade,
  name      text    not null,
  kind      text    not null check (kind in ('directory', 'file')),
  contents  text    check (kind = 'file' or contents is null),
  check (parent_id is not null or (name = '' and kind = 'directory')),
  check (parent_id is null or (name not in ('', '.', '..') and instr(name, '/') = 0 and length(cast(name as blob)) <= 255)),
  unique (parent_id, name)
) strict;

create unique index if not exists nodes_root on nodes (parent_id is null) where parent_id is null;
create index if not exists nodes_directories on nodes (parent_id, id) where kind = 'directory';

-- There is one writer at a time, so looking is enough; what is seen stays so until the transaction ends.
create trigger if not exists nodes_guard_move before update of parent_id on nodes
when new.kind = 'directory' and new.parent_id is not old.parent_id
begin
  select raise(abort, 'cannot move a directory into itself')
  where new.id in (
    with recursive up (id) as (
      select new.parent_id
      union
      select p.parent_id from up join nodes p on p.id = up.id where p.parent_id is not null
    )
    select id from up
  );
end;

insert into nodes (name, kind)
select '', 'directory' where not exists (select 1 from nodes where parent_id is null);
