-- oldest program: 15
-- As 0007_await_change says, with a loop that costs two thirds: conditions of control statements are evaluated without the
-- executor, which `perform` starts and ends each time. pg_sleep() gives a void, which is not null. The pause and the look are two
-- expressions, since each has one snapshot, from before it begins.
create or replace function {schema}.await_change(seen text, look_every double precision, at_most double precision)
returns boolean language plpgsql as $lockstep$
declare
  deadline timestamptz := clock_timestamp() + make_interval(secs => at_most);
begin
  while pg_sleep(look_every) is not null loop
    if pg_current_snapshot()::text <> seen then
      return true;
    end if;
    exit when clock_timestamp() >= deadline;
  end loop;
  return false;
end
$lockstep$;
