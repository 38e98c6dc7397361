-- Those who wait for a lock get it in the order in which they came. Before, one of them could leave a mark, and the others met
-- the free lock by chance.

drop function {schema}.acquire(text, text[], text[], interval, interval, text[]);
drop function {schema}.refusals(text, text[], text[], text[]);
drop function {schema}.release(text, text[], boolean, boolean);
drop view {schema}.locks;
alter table {schema}.lock drop column waiting, drop column waiting_until;

create table {schema}.waiter (
  name   text collate "C" not null,
  holder text collate "C" not null,
  mode   text not null check (mode in ('shared', 'exclusive')),
  place  bigint not null,                      -- the lower, the sooner; given while the row of the lock is locked
  until  timestamptz not null,                 -- its place is lost then, unless it asks again
  primary key (name, holder)
) with (fillfactor = 50);
comment on table {schema}.waiter is 'the queue for each lock';
comment on table {schema}.lock is 'what is locked or waited for';

-- All locks as they are, those that are only waited for with no holders. A holder's lease is that of its operation.
create view {schema}.locks as
select l.name, h.mode, h.holders, h.until, w.waiting, w.waiting_until
from {schema}.lock as l
cross join lateral (
  select case when bool_or(h.mode = 'exclusive') then 'exclusive' else 'shared' end as mode,
         coalesce(array_agg(h.holder order by h.holder), '{}') as holders,
         coalesce(array_agg(coalesce(o.lease_until, h.until) order by h.holder), '{}') as until
  from {schema}.holder as h
  left join {schema}.operation as o on o.id = h.holder
  where h.name = l.name
) as h
cross join lateral (
  select coalesce(array_agg(w.holder order by w.place), '{}') as waiting,
         coalesce(array_agg(w.until order by w.place), '{}') as waiting_until
  from {schema}.waiter as w
  where w.name = l.name and w.until >= clock_timestamp()
) as w;

-- Which of these locks "me" cannot have now, in the order of their names, and as they are.
--   under   holders whose command "me" is a part of: they do not keep it out
--   queued  nobody holds it against "me", but others have waited for longer
--   ahead   how many have a place before that of "me"; null: it has none
create function {schema}.refusals(me text, shared_names text[], exclusive_names text[], under text[])
returns table (name text, mode text, holders text[], until timestamptz[], waiting text[], waiting_until timestamptz[],
               queued boolean, ahead bigint, at timestamptz)
language sql stable set search_path = '' as $$
  select l.name, l.mode, l.holders, l.until, l.waiting, l.waiting_until, not judged.held,
         case when mine.place is not null then before.number end, clock_timestamp()
  from (select n as name, 'exclusive' as mode from unnest(exclusive_names) as n
        union all
        select n, 'shared' from unnest(shared_names) as n) as wanted
  join {schema}.locks as l on l.name = wanted.name
  left join {schema}.waiter as mine on mine.name = l.name and mine.holder = me
  cross join lateral (
    select exists (select from {schema}.holder as h
                   where h.name = wanted.name and h.holder <> me and h.holder <> all (under)
                     and (wanted.mode = 'exclusive' or h.mode = 'exclusive')) as held
  ) as judged
  cross join lateral (
    select count(*) as number, coalesce(bool_or(wanted.mode = 'exclusive' or w.mode = 'exclusive'), false) as keep_out
    from {schema}.waiter as w
    where w.name = l.name and w.holder <> me and w.until >= clock_timestamp()
      and (mine.place is null or w.place < mine.place)
  ) as before
  where judged.held or (before.keep_out and me <> all (l.holders) and not l.holders && under)
  order by l.name collate "C"
$$;

-- Asks for all of these locks at once: no row when they are had; else the first one that stood in the way, and nothing has
-- changed. What "me" has already it has again; a shared lock becomes exclusive if it is the only sharer.
--   lease  of a holder without an entry in the journal
--   keep   how long "me" has a place in the queue of the refused lock, unless it asks again; 0: it does not wait. It also has
--          the first place at exclusive locks before it, in the order of their names, and none at those behind it
--   under  holders whose command "me" is a part of: they do not keep it out
create function {schema}.acquire(me text, shared_names text[], exclusive_names text[], lease interval,
                                 keep interval default '0', under text[] default '{}')
returns table (name text, mode text, holders text[], until timestamptz[], waiting text[], waiting_until timestamptz[],
               queued boolean, ahead bigint, at timestamptz)
language plpgsql set search_path = '' as $$
#variable_conflict use_column
declare
  names text[] := array(select n from unnest(shared_names || exclusive_names) as n group by n order by n collate "C");
  waits boolean := keep > interval '0';
  refused record;
begin
  -- Who does not wait, or has a place for long enough, and is refused, has written nothing and waited for nobody.
  select r.* into refused from {schema}.refusals(me, shared_names, exclusive_names, under) as r limit 1;
  if found and (not waits or exists (select from {schema}.waiter as w where w.name = refused.name and w.holder = me
                                       and w.until >= clock_timestamp() + keep / 2)) then
    return query select refused.name, refused.mode, refused.holders, refused.until, refused.waiting, refused.waiting_until,
                        refused.queued, refused.ahead, refused.at;
    return;
  end if;
  insert into {schema}.lock as l (name) select n from unnest(names) as n on conflict (name) do update set name = l.name;
  select r.* into refused from {schema}.refusals(me, shared_names, exclusive_names, under) as r limit 1;
  if not found then
    insert into {schema}.holder as h (name, holder, mode, until)
    select wanted.name, me, min(wanted.mode), clock_timestamp() + lease  -- "exclusive" is the lesser text
    from (select n as name, 'exclusive' as mode from unnest(exclusive_names) as n
          union all
          select n, 'shared' from unnest(shared_names) as n) as wanted
    group by wanted.name
    on conflict (name, holder) do update set mode = least(h.mode, excluded.mode), until = excluded.until;
    delete from {schema}.waiter as w where w.name = any (names) and (w.holder = me or w.until < clock_timestamp());
    return;
  end if;
  delete from {schema}.waiter as w
  where w.name = any (names) and (w.until < clock_timestamp() or (w.holder = me and w.name > refused.name)) and
        not (w.name = refused.name and w.holder = me);
  if waits then
    insert into {schema}.waiter (name, holder, mode, place, until)
    select refused.name, me, case when refused.name = any (exclusive_names) then 'exclusive' else 'shared' end,
           (select coalesce(max(w.place), 0) + 1 from {schema}.waiter as w where w.name = refused.name),
           clock_timestamp() + keep
    on conflict (name, holder) do update set until = excluded.until;
    insert into {schema}.waiter (name, holder, mode, place, until)
    select n, me, 'exclusive', (select coalesce(min(w.place), 0) - 1 from {schema}.waiter as w where w.name = n),
           clock_timestamp() + keep
    from unnest(exclusive_names) as n where n collate "C" < refused.name
    on conflict (name, holder) do update set place = excluded.place, until = excluded.until;
    refused.ahead := (select count(*) from {schema}.waiter as w
                      where w.name = refused.name and w.place < (select m.place from {schema}.waiter as m
                                                                 where m.name = refused.name and m.holder = me));
  end if;
  delete from {schema}.lock as l
  where l.name = any (names) and not exists (select from {schema}.holder as h where h.name = l.name)
    and not exists (select from {schema}.waiter as w where w.name = l.name);
  return query select refused.name, refused.mode, refused.holders, refused.until, refused.waiting, refused.waiting_until,
                      refused.queued, refused.ahead, refused.at;
end
$$;

-- Takes "me" out of these locks, and out of their queues.
--   keep_place    its places stay
--   only_expired  it leaves only where its own lease in the lock has run out
create function {schema}.release(me text, names text[], keep_place boolean default false,
                                 only_expired boolean default false)
returns void
language plpgsql set search_path = '' as $$
begin
  perform from {schema}.lock as l where l.name = any (names) order by l.name for update;
  delete from {schema}.holder as h
  where h.name = any (names) and h.holder = me and not (only_expired and h.until >= clock_timestamp());
  delete from {schema}.waiter as w
  where w.name = any (names) and (w.until < clock_timestamp() or (w.holder = me and not keep_place));
  delete from {schema}.lock as l
  where l.name = any (names) and not exists (select from {schema}.holder as h where h.name = l.name)
    and not exists (select from {schema}.waiter as w where w.name = l.name);
end
$$;
