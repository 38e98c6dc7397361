-- The tree that the writers of the chaos suite change: schema/fs, with names and contents that tell how new they are.
-- A node's name is KEY.REVISION, a file's contents begin with a revision. A revision is taken when the row is locked, so
-- the revisions of a row only grow, in the order of the commits; a document shows those of its own row and of every
-- directory above it.
create schema chaos;
create sequence chaos.revision cache 1;

create function chaos.new_name(key text) returns text language sql volatile as
  $$select key || '.' || nextval('chaos.revision')$$;

create function chaos.new_contents() returns text language sql volatile as
  $$select nextval('chaos.revision') || ' ' || md5(random()::text)$$;

-- Another name, and another place when target isn't null.
create function chaos.rename(node bigint, target bigint default null) returns void language plpgsql as $$
declare
  key text;
begin
  select split_part(n.name, '.', 1), coalesce(target, n.parent_id) into key, target
    from fs.nodes n where n.id = node and n.parent_id is not null for no key update;
  if found then
    perform fs.rename(fs.path(node), fs.path(target) || '/' || chaos.new_name(key));
  end if;
end
$$;

create function chaos.change(node bigint) returns void language plpgsql as $$
begin
  perform from fs.nodes n where n.id = node and n.kind = 'file' for no key update;
  if found then
    perform fs.put(fs.path(node), chaos.new_contents());
  end if;
end
$$;

-- A new file or directory; its key is a revision too, so nothing else has it.
create function chaos.add_file(directory bigint) returns bigint language sql as
  $$select fs.put(fs.path(directory) || '/' || chaos.new_name('f' || nextval('chaos.revision')), chaos.new_contents())$$;

-- Not by fs.mkdir, which makes what is missing above too: a directory that is renamed at the same moment would get a
-- double with its key.
create function chaos.add_directory(directory bigint) returns void language sql as
  $$insert into fs.nodes (parent_id, name, kind)
    values (directory, chaos.new_name('d' || nextval('chaos.revision')), 'directory')$$;

create function chaos.add_files(directory bigint, files integer) returns void language sql as
  $$insert into fs.nodes (parent_id, name, kind, contents)
    select directory, chaos.new_name('f' || nextval('chaos.revision')), 'file', chaos.new_contents()
    from generate_series(1, files)$$;

-- Any node of that kind, chosen by a number from 0 to 1; none when the tree has none.
create function chaos.any_node(wanted text, choice double precision) returns bigint language sql stable as
  $$select n.id from fs.nodes n
    where n.kind = wanted and n.parent_id is not null
      and n.id >= choice * (select max(m.id) from fs.nodes m)
    order by n.id limit 1$$;

-- The directories in the root stay where they are and are never removed; the first one is much larger than the rest.
do $$
declare
  top   bigint;
  below bigint;
begin
  for i in 1 .. 8 loop
    top := fs.mkdir('/' || chaos.new_name('top' || i));
    perform chaos.add_files(top, case when i = 1 then 1300 else 40 end);
    for j in 1 .. 4 loop
      below := fs.mkdir(fs.path(top) || '/' || chaos.new_name('d' || nextval('chaos.revision')));
      perform chaos.add_files(below, 30);
    end loop;
  end loop;
end
$$;

-- How old the index is, seen from outside: see probe.h.
create table chaos.probe (id integer primary key, n bigint not null);
insert into chaos.probe values (1, 0);
create view search.probe as select p.id as _id, p.n from chaos.probe p;
