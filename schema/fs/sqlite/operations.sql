-- SQLite has no stored functions. These are the statements for what fs.find, fs.put, … do in PostgreSQL, with named
-- parameters; an application runs them between "begin immediate" and "commit", so that nothing changes between finding a
-- path and changing what is there. No row from find, put or mkdir means: no such file or directory, or one that is a
-- directory where a file is needed, or the other way round. A name that is taken is a violated unique constraint.

-- find: the id at :path
with recursive walk (id, rest) as (
  select id, trim(:path, '/') from nodes where parent_id is null
  union all
  select c.id, substr(w.rest, instr(w.rest || '/', '/') + 1)
  from walk w
  join nodes c on c.parent_id = w.id and c.name = substr(w.rest, 1, instr(w.rest || '/', '/') - 1)
  where w.rest <> ''
)
select id from walk where rest = '';

-- put: writes a file :name with :contents into the directory with the id :directory
insert into nodes (parent_id, name, kind, contents)
select id, :name, 'file', :contents from nodes where id = :directory and kind = 'directory'
on conflict (parent_id, name) do update set contents = excluded.contents where kind = 'file'
returning id;

-- mkdir: makes a directory :name in :directory; one that is there already is fine
insert into nodes (parent_id, name, kind)
select id, :name, 'directory' from nodes where id = :directory and kind = 'directory'
on conflict (parent_id, name) do update set name = excluded.name where kind = 'directory'
returning id;

-- rename: gives the node :id the name :name in :directory
update nodes set parent_id = :directory, name = :name
where id = :id and exists (select 1 from nodes where id = :directory and kind = 'directory')
returning id;

-- remove: a file, or a directory with everything below it
delete from nodes where id = :id and parent_id is not null
returning id;
