-- A command that runs under a lock may itself run commands that need locks: those are not kept out by it. So an exclusive
-- lock may have several holders: one, and what runs under it.

drop function {schema}.acquire(text, text[], text[], interval, interval);
drop function {schema}.refusals(text, text[], text[]);

-- Which of these locks "me" cannot have now, in the order of their names, and as they are.
--   under   holders whose command "me" is a part of: they do not keep it out
--   queued  nobody holds it against "me", it is only kept for the one who waits
create function {schema}.refusals(me text, shared_names text[], exclusive_names text[], under text[])
returns table (name text, mode text, holders text[], until timestamptz[], waiting text, waiting_until timestamptz,
               queued boolean, at timestamptz)
language sql stable set search_path = '' as $$
  select l.name, l.mode, l.holders, l.until, nullif(l.waiting, me), l.waiting_until, not judged.held, clock_timestamp()
  from (select n as name, 'exclusive' as mode from unnest(exclusive_names) as n
        union all
        select n, 'shared' from unnest(shared_names) as n) as wanted
  join {schema}.locks as l on l.name = wanted.name
  cross join lateral (
    select exists (select from {schema}.holder as h
                   where h.name = wanted.name and h.holder <> me and h.holder <> all (under)
                     and (wanted.mode = 'exclusive' or h.mode = 'exclusive')) as held
  ) as judged
  where judged.held
     or (l.waiting <> me and l.waiting_until >= clock_timestamp() and me <> all (l.holders) and not l.holders && under)
  order by l.name collate "C"
$$;

-- Asks for all of these locks at once: no row when they are had; else the first one that stood in the way, and nothing has
-- changed. What "me" has already it has again; a shared lock becomes exclusive if it is the only sharer.
--   lease  of a holder without an entry in the journal
--   mark   how long an exclusive lock that is refused keeps new sharers out; 0: it does not
--   under  holders whose command "me" is a part of: they do not keep it out
create function {schema}.acquire(me text, shared_names text[], exclusive_names text[], lease interval,
                                 mark interval default '0', under text[] default '{}')
returns table (name text, mode text, holders text[], until timestamptz[], waiting text, waiting_until timestamptz,
               queued boolean, at timestamptz)
language plpgsql set search_path = '' as $$
#variable_conflict use_column
declare
  names text[] := array(select n from unnest(shared_names || exclusive_names) as n group by n order by n collate "C");
begin
  -- Who leaves no mark and is refused has written nothing and waited for nobody.
  if mark <= interval '0' then
    return query select * from {schema}.refusals(me, shared_names, exclusive_names, under) limit 1;
    if found then
      return;
    end if;
  end if;
  insert into {schema}.lock as l (name) select n from unnest(names) as n
  on conflict (name) do update set waiting = l.waiting;
  return query select * from {schema}.refusals(me, shared_names, exclusive_names, under) limit 1;
  if not found then
    insert into {schema}.holder as h (name, holder, mode, until)
    select wanted.name, me, min(wanted.mode), clock_timestamp() + lease  -- "exclusive" is the lesser text
    from (select n as name, 'exclusive' as mode from unnest(exclusive_names) as n
          union all
          select n, 'shared' from unnest(shared_names) as n) as wanted
    group by wanted.name
    on conflict (name, holder) do update set mode = least(h.mode, excluded.mode), until = excluded.until;
    update {schema}.lock set waiting = null, waiting_until = null
    where name = any (names) and (waiting = me or waiting_until < clock_timestamp());
    return;
  end if;
  if mark > interval '0' then
    update {schema}.lock set waiting = me, waiting_until = clock_timestamp() + mark
    where name = any (exclusive_names) and (waiting is null or waiting = me or waiting_until < clock_timestamp())
      and name in (select r.name from {schema}.refusals(me, shared_names, exclusive_names, under) as r);
  end if;
  delete from {schema}.lock as l
  where l.name = any (names) and l.waiting is null
    and not exists (select from {schema}.holder as h where h.name = l.name);
end
$$;
