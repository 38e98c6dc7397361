-- Locks for data that lives in Elasticsearch, kept in PostgreSQL (docs/locks.md). `{schema}` stands for the quoted name of
-- their own schema, which is also the search_path while a migration runs.
--
-- Whoever changes who holds a lock has its row of "lock" locked before, and rows are always locked in the order of their
-- names: so the answer about a set of locks is true at one moment, and nobody deadlocks. Tokens are drawn from one row, which
-- stays locked until the commit: they grow in the order in which commits and adoptions become visible.

create table {schema}.operation (
  id          text collate "C" primary key,    -- also the holder's name in the locks; unique for all time
  kind        text not null default 'lock',    -- 'lock': nobody else can finish it
  source      text not null default '',
  destination text not null default '',
  target      text not null default '',
  shared      text[] not null default '{}',    -- the locks that it has or wants, by mode
  exclusive   text[] not null default '{}',
  state       text not null default 'pending' check (state in ('pending', 'running', 'done', 'aborted')),
  owner       text not null,                   -- who works on it: itself, or who has adopted it
  epoch       bigint not null default 1,       -- 1, and one more for each adoption
  lease_until timestamptz not null,
  token       bigint,                          -- of the present owner
  commit      bigint,                          -- of the first one
  task        text not null default '',
  progress    bigint not null default 0,
  reason      text not null default '',
  version     bigint not null default 1        -- of the entry: it is changed only as it was read
) with (fillfactor = 50);
create index operation_unresolved on {schema}.operation (lease_until) where state in ('pending', 'running');
comment on table {schema}.operation is 'the journal of operations under locks';

-- A row stays as long as somebody holds the lock or has left a mark.
create table {schema}.lock (
  name          text collate "C" primary key,
  waiting       text,                          -- for whom new sharers are kept back
  waiting_until timestamptz
) with (fillfactor = 50);
comment on table {schema}.lock is 'what is locked';

create table {schema}.holder (
  name   text collate "C" not null,
  holder text collate "C" not null,
  mode   text not null check (mode in ('shared', 'exclusive')),
  until  timestamptz not null,                 -- the lease of a holder that has no entry in the journal
  primary key (name, holder)
);
comment on table {schema}.holder is 'who holds each lock';

create table {schema}.token (
  last     bigint not null,
  the_only boolean primary key default true check (the_only)
) with (fillfactor = 10);
insert into {schema}.token (last) values (0);
comment on table {schema}.token is 'the last fencing token';

-- All locks as they are, those that are only waited for with no holders. A holder's lease is that of its operation.
create view {schema}.locks as
select l.name, h.mode, h.holders, h.until, l.waiting, l.waiting_until
from {schema}.lock as l
cross join lateral (
  select case when bool_or(h.mode = 'exclusive') then 'exclusive' else 'shared' end as mode,
         coalesce(array_agg(h.holder order by h.holder), '{}') as holders,
         coalesce(array_agg(coalesce(o.lease_until, h.until) order by h.holder), '{}') as until
  from {schema}.holder as h
  left join {schema}.operation as o on o.id = h.holder
  where h.name = l.name
) as h;

-- Which of these locks "me" cannot have now, in the order of their names, and as they are.
--   queued  nobody holds it against "me", it is only kept for the one who waits
create function {schema}.refusals(me text, shared_names text[], exclusive_names text[])
returns table (name text, mode text, holders text[], until timestamptz[], waiting text, waiting_until timestamptz,
               queued boolean, at timestamptz)
language sql stable set search_path = '' as $$
  select l.name, l.mode, l.holders, l.until, nullif(l.waiting, me), l.waiting_until, not judged.held, clock_timestamp()
  from (select n as name, 'exclusive' as mode from unnest(exclusive_names) as n
        union all
        select n, 'shared' from unnest(shared_names) as n) as wanted
  join {schema}.locks as l on l.name = wanted.name
  cross join lateral (
    select cardinality(array_remove(l.holders, me)) > 0 and (wanted.mode = 'exclusive' or l.mode = 'exclusive') as held
  ) as judged
  where judged.held
     or (l.waiting <> me and l.waiting_until >= clock_timestamp() and me <> all (l.holders))
  order by l.name collate "C"
$$;

-- Asks for all of these locks at once: no row when they are had; else the first one that stood in the way, and nothing has
-- changed. What "me" has already it has again; a shared lock becomes exclusive if it is the only sharer.
--   lease  of a holder without an entry in the journal
--   mark   how long an exclusive lock that is refused keeps new sharers out; 0: it does not
create function {schema}.acquire(me text, shared_names text[], exclusive_names text[], lease interval,
                                 mark interval default '0')
returns table (name text, mode text, holders text[], until timestamptz[], waiting text, waiting_until timestamptz,
               queued boolean, at timestamptz)
language plpgsql set search_path = '' as $$
#variable_conflict use_column
declare
  names text[] := array(select n from unnest(shared_names || exclusive_names) as n group by n order by n collate "C");
begin
  -- Who leaves no mark and is refused has written nothing and waited for nobody.
  if mark <= interval '0' then
    return query select * from {schema}.refusals(me, shared_names, exclusive_names) limit 1;
    if found then
      return;
    end if;
  end if;
  insert into {schema}.lock as l (name) select n from unnest(names) as n
  on conflict (name) do update set waiting = l.waiting;
  return query select * from {schema}.refusals(me, shared_names, exclusive_names) limit 1;
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
      and name in (select r.name from {schema}.refusals(me, shared_names, exclusive_names) as r);
  end if;
  delete from {schema}.lock as l
  where l.name = any (names) and l.waiting is null
    and not exists (select from {schema}.holder as h where h.name = l.name);
end
$$;

-- Takes "me" out of these locks, with its marks.
--   keep_mark     its marks stay
--   only_expired  it leaves only where its own lease in the lock has run out
create function {schema}.release(me text, names text[], keep_mark boolean default false,
                                 only_expired boolean default false)
returns void
language plpgsql set search_path = '' as $$
begin
  perform from {schema}.lock as l where l.name = any (names) order by l.name for update;
  delete from {schema}.holder as h
  where h.name = any (names) and h.holder = me and not (only_expired and h.until >= clock_timestamp());
  update {schema}.lock as l set waiting = null, waiting_until = null
  where l.name = any (names) and (l.waiting_until < clock_timestamp() or (l.waiting = me and not keep_mark));
  delete from {schema}.lock as l
  where l.name = any (names) and l.waiting is null
    and not exists (select from {schema}.holder as h where h.name = l.name);
end
$$;

-- Greater than all before it, and than those of a server that was restored from a backup or has lost its last commits.
create function {schema}.next_token() returns bigint
language sql set search_path = '' as $$
  update {schema}.token set last = greatest(last + 1, (extract(epoch from clock_timestamp()) * 1000)::bigint) returning last
$$;

-- Changes an entry of the journal as it was read, and lets its lease begin anew: no row when it has changed since, which
-- means that its owner has been deposed. What is null stays. 'running' draws the token.
create function {schema}.step(entry text, seen bigint, lease interval, new_state text default null,
                              new_task text default null, new_progress bigint default null,
                              new_reason text default null, new_shared text[] default null,
                              new_exclusive text[] default null)
returns table (version bigint, lease_until timestamptz, token bigint)
language plpgsql set search_path = '' as $$
#variable_conflict use_column
begin
  update {schema}.operation as o
  set state = coalesce(new_state, o.state), task = coalesce(new_task, o.task),
      progress = coalesce(new_progress, o.progress), reason = coalesce(new_reason, o.reason),
      shared = coalesce(new_shared, o.shared), exclusive = coalesce(new_exclusive, o.exclusive),
      lease_until = clock_timestamp() + lease, version = o.version + 1
  where o.id = entry and o.version = seen;
  if not found then
    return;
  end if;
  if new_state = 'running' then
    update {schema}.operation as o set token = t.token, commit = t.token
    from {schema}.next_token() as t(token)
    where o.id = entry and o.commit is null;
  end if;
  return query select o.version, o.lease_until, o.token from {schema}.operation as o where o.id = entry;
end
$$;

-- What has become of an operation whose locks are in the way; no row when its entry is not as it was read.
--   answer  'over': its locks are void; 'alive': until lease_until; 'aborted' by this; 'adopted' by "me", who has to finish
--           it under its new token; 'dead': somebody has to adopt it
create function {schema}.seize(entry text, seen bigint, me text, lease interval, adopt boolean)
returns table (answer text, operation {schema}.operation)
language plpgsql set search_path = '' as $$
declare
  o {schema}.operation;
begin
  select * into o from {schema}.operation where id = entry and version = seen for update;
  if not found then
    return;
  end if;
  if o.state in ('done', 'aborted') then
    answer := 'over';
  elsif o.lease_until >= clock_timestamp() then
    answer := 'alive';
  elsif o.state = 'pending' or o.kind = 'lock' then
    answer := 'aborted';
    update {schema}.operation
    set state = 'aborted', reason = 'its lease ran out', owner = me, lease_until = clock_timestamp(),
        version = version + 1
    where id = entry returning * into o;
  elsif adopt then
    answer := 'adopted';
    update {schema}.operation
    set owner = me, epoch = epoch + 1, token = {schema}.next_token(), lease_until = clock_timestamp() + lease,
        version = version + 1
    where id = entry returning * into o;
  else
    answer := 'dead';
  end if;
  operation := o;
  return next;
end
$$;
