-- When nobody consumes the outbox for long, it can be kept from filling the disk: above the smallest max_outbox_size of the
-- schema's pipelines the triggers of those that have one write nothing more, and whoever leads next compares everything.
alter table {schema}.pipeline add column max_outbox_size bigint;  -- bytes; null: no limit

-- Its last value says what the triggers do. A sequence, since a change of it is seen at once, whatever snapshot one has, and
-- since what a transaction has left out may not be forgotten when another one rolls back.
--   1  they write
--   2  the outbox is full: they write nothing
--   3  they write again; what was left out has not been made good for
--   4  the comparisons have been added; the outbox is still being emptied
-- Its oid is also that of an advisory lock: shared, of each transaction that leaves something out or finds the outbox
-- full, until it ends; exclusive, of a leader that goes from 3 to 4 or from 4 to 1. Nobody waits for it.
create sequence {schema}.capture_state maxvalue 4;

-- Makes the triggers stop when the outbox is too large. Sizes are those of whole parts: what was consumed counts
-- until its part is emptied.
create function {schema}.limit_outbox() returns void language plpgsql as $lockstep$
declare
  state  bigint;
  places oid;
  lock   integer;
begin
  select s.last_value, s.tableoid::integer, c.relnamespace into state, lock, places
  from {schema}.capture_state as s join pg_catalog.pg_class as c on c.oid = s.tableoid;
  if state <> 1 then
    return;
  end if;
  perform from pg_catalog.pg_class as c
  where c.relnamespace = places and c.relname in ('outbox_0', 'outbox_1', 'outbox_2')
  having sum(pg_catalog.pg_total_relation_size(c.oid)) > (select min(p.max_outbox_size) from {schema}.pipeline as p);
  if found and pg_catalog.pg_try_advisory_xact_lock_shared(1280262987, lock) then
    perform pg_catalog.setval(s.tableoid, 2) from {schema}.capture_state as s where s.last_value = 1;
  end if;
end
$lockstep$;
revoke all on function {schema}.limit_outbox() from public;

-- Asked by the triggers before anything else: whether to write nothing. Now and then it looks how large the outbox is.
create function {schema}.outbox_is_full() returns boolean language plpgsql as $lockstep$
declare
  state bigint;
begin
  select s.last_value into state from {schema}.capture_state as s;
  if state = 2 then
    -- A leader that has this lock has let them write again.
    select case when pg_catalog.pg_try_advisory_xact_lock_shared(1280262987, s.tableoid::integer) then 2 else 1 end
    into state from {schema}.capture_state as s;
    if state = 2 then
      select s.last_value into state from {schema}.capture_state as s;
    end if;
    return state = 2;
  end if;
  if pg_catalog.txid_current() % 256 = 0 then
    perform {schema}.limit_outbox();
  end if;
  return false;
end
$lockstep$;
revoke all on function {schema}.outbox_is_full() from public;
