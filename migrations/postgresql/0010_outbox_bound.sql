-- oldest program: 9
-- The limit of the outbox bounds what is pending, always, and not only until the outbox was full for the first time.
--
-- Which leaf a transaction writes into is what the leader has chosen, no longer the time: a leaf that an open transaction, a
-- prepared one or a backup holds cannot be emptied, and is left alone until it can. A transaction stays in the leaf that
-- it has begun with: otherwise a long one would hold all of them.
create sequence {schema}.outbox_slot minvalue 0 maxvalue 2 start 0;
select pg_catalog.setval('outbox_slot', extract(epoch from now())::bigint / 600 % 3);
-- Whoever writes waits behind this for so long at most. `apply` tries again.
set local lock_timeout = '200ms';
alter table {schema}.outbox alter column slot set default
  case pg_catalog.current_setting('lockstep.slot', true)
    when '0' then 0
    when '1' then 1
    when '2' then 2
    else pg_catalog.set_config('lockstep.slot', pg_catalog.pg_sequence_last_value('outbox_slot'::regclass)::text, true)::smallint
  end;

-- Bytes of each leaf that every pipeline has passed and that could not be given back yet. Sequences, since the writers of
-- any snapshot have to see them.
create sequence {schema}.outbox_passed_0 minvalue 0 start 0;
create sequence {schema}.outbox_passed_1 minvalue 0 start 0;
create sequence {schema}.outbox_passed_2 minvalue 0 start 0;

-- The leaves: their bytes on disk with indexes, how many of these are passed, which leaf is written, and which has no rows.
create function {schema}.outbox_leaves(out slot integer, out bytes bigint, out passed bigint, out is_written boolean, out is_empty boolean)
returns setof record language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $lockstep$
declare
  places oid;
  noted bigint[];
  written bigint;
begin
  select c.relnamespace into places
  from {schema}.capture_state as s join pg_catalog.pg_class as c on c.oid = s.tableoid;
  select array[a.last_value, b.last_value, c.last_value], w.last_value into noted, written
  from {schema}.outbox_passed_0 as a, {schema}.outbox_passed_1 as b, {schema}.outbox_passed_2 as c, {schema}.outbox_slot as w;
  return query
    select l.slot, pg_catalog.pg_total_relation_size(r.oid), noted[l.slot + 1], l.slot = written,
           pg_catalog.pg_relation_size(r.oid) = 0
    from pg_catalog.generate_series(0, 2) as l(slot)
      join pg_catalog.pg_class as r on r.relnamespace = places and r.relname = 'outbox_' || l.slot
    order by l.slot;
end
$lockstep$;
revoke all on function {schema}.outbox_leaves() from public;

-- For the leader: transactions that write nothing yet write into this leaf.
create function {schema}.write_outbox_leaf(leaf integer) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $lockstep$
  select pg_catalog.setval(s.tableoid, leaf) from {schema}.outbox_slot as s
$lockstep$;
revoke all on function {schema}.write_outbox_leaf(integer) from public;

-- For the leader: so many bytes of a leaf are passed by every pipeline, or are to be made up for by comparisons.
create function {schema}.note_outbox_passed(leaf integer, bytes bigint) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $lockstep$
begin
  if leaf = 0 then
    perform pg_catalog.setval(s.tableoid, bytes) from {schema}.outbox_passed_0 as s;
  elsif leaf = 1 then
    perform pg_catalog.setval(s.tableoid, bytes) from {schema}.outbox_passed_1 as s;
  else
    perform pg_catalog.setval(s.tableoid, bytes) from {schema}.outbox_passed_2 as s;
  end if;
end
$lockstep$;
revoke all on function {schema}.note_outbox_passed(integer, bigint) from public;

-- Whether the outbox is full: more is pending than the smallest max_outbox_size of the schema's pipelines, or twice as much
-- is on disk, since what is passed cannot be given back.
create function {schema}.outbox_is_over(out pending boolean, out on_disk boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp as $lockstep$
  select coalesce(sum(greatest(l.bytes - l.passed, 0)) > m.bytes, false), coalesce(sum(l.bytes) > 2 * m.bytes, false)
  from {schema}.outbox_leaves() as l
    cross join (select min(p.max_outbox_size) as bytes from {schema}.pipeline as p) as m
  group by m.bytes
$lockstep$;
revoke all on function {schema}.outbox_is_over() from public;

-- Makes the triggers stop when the outbox is full, also after it was full before (3 of capture_state; earlier versions
-- of lockstep come to 4, which is like 1).
create or replace function {schema}.limit_outbox() returns void language plpgsql as $lockstep$
declare
  state bigint;
  lock  integer;
begin
  select s.last_value, s.tableoid::integer into state, lock from {schema}.capture_state as s;
  if state = 2 then
    return;
  end if;
  perform from {schema}.outbox_is_over() as o where o.pending or o.on_disk;
  if found and pg_catalog.pg_try_advisory_xact_lock_shared(1280262987, lock) then
    perform pg_catalog.setval(s.tableoid, 2) from {schema}.capture_state as s where s.last_value <> 2;
  end if;
end
$lockstep$;
