-- fs.guard_move(node, target, name): makes sure that a directory isn't moved below itself, whoever else is moving
-- directories at the same moment, and keeps it so until the transaction ends.
--
-- Two moves that are harmless one by one can close a circle together: /a into /b/c while /b goes into /a/d. So every move
-- holds the way from its target up to the root (for share) and the directory that it moves (for no key update), taken in the
-- order of their ids so that two moves wait for each other rather than lock each other out; and since the way may have
-- changed while it waited, it looks again, until it holds what it sees. Under repeatable read and serializable, where
-- looking again shows nothing new, PostgreSQL refuses to lock what has changed: 40001, try the transaction again.
-- The root can't be moved and isn't locked.
--
-- Parameters: node    the directory that moves
--             target  the directory that it goes into
--             name    its name there, for the message
-- Errors:     UX040  cannot move a directory into itself
--             40001, 40P01 (transactions with several moves): try again
-- Tables:     locks rows of fs.nodes until the transaction ends
create or replace function fs.guard_move(node bigint, target bigint, name text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off -- by the index, even where the table was tiny when the plan was made
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  chain  bigint[]; -- target and what is above it
  moving bigint[]; -- what of it can move, and node
  locked bigint[] := '{}';
  next   bigint;
begin
  loop
    with recursive up (id, parent_id) as (
      select n.id, n.parent_id from fs.nodes n where n.id = target
      union
      select p.id, p.parent_id from up join fs.nodes p on p.id = up.parent_id
    )
    select array_agg(up.id), coalesce(array_agg(up.id) filter (where up.parent_id is not null), '{}') || node
      into chain, moving from up;
    if node = any (chain) then
      raise exception 'cannot move % into itself %', fs.path(node), fs.path(target) || '/' || name using errcode = 'UX040';
    end if;
    exit when moving <@ locked;
    for next in select c from unnest(moving) as c order by c loop
      if next = node then
        perform from fs.nodes n where n.id = next for no key update;
      else
        perform from fs.nodes n where n.id = next for share;
      end if;
    end loop;
    locked := locked || moving;
  end loop;
end
$$;

-- The same for every update of parent_id, not only those of fs.rename: a circle would keep everybody who walks up the tree
-- walking for ever, the search views first.
create or replace function fs.guard_move() returns trigger
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  perform fs.guard_move(new.id, new.parent_id, new.name);
  return new;
end
$$;

drop trigger if exists nodes_guard_move on fs.nodes; -- PostgreSQL 13 has no "create or replace trigger"
create trigger nodes_guard_move before update of parent_id on fs.nodes
for each row when (new.kind = 'directory' and new.parent_id is distinct from old.parent_id)
execute function fs.guard_move();
