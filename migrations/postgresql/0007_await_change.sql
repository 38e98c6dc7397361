-- Returns true when another snapshot than `seen` is current, and false when the time is over. Both times are in seconds. The first
-- look comes after the first pause too: on a server where others are always at work, whoever asks again and again is slowed down.
-- A look inside of the server costs a fraction of one that comes over a connection, on either side of it.
-- REQUIRES: read committed, where each look has a snapshot of its own.
create function {schema}.await_change(seen text, look_every double precision, at_most double precision)
returns boolean language plpgsql as $lockstep$
declare
  deadline timestamptz := clock_timestamp() + make_interval(secs => at_most);
begin
  loop
    perform pg_sleep(look_every);
    if pg_current_snapshot()::text <> seen then
      return true;
    end if;
    if clock_timestamp() >= deadline then
      return false;
    end if;
  end loop;
end
$lockstep$;

revoke all on function {schema}.await_change(text, double precision, double precision) from public;
