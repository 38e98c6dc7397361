-- Body of the functions that the insert trigger and the delete trigger of a tracked table call (define/triggers.h,
-- T2, T4 and T5). A statement that touched one row writes what the loop has found, which ends at the second row; a later
-- statement of many rows may find the outbox full.
--   {schema}     lockstep's schema
--   {part}       the row of the outbox into which d.key goes
--   {rows}       the transition table: new_rows or old_rows
--   {values}     query of v1, v2, ..., what each capture takes from these rows
--   {columns}    r.v1, r.v2, ...
--   {variables}  value1, value2, ...
--   {fallback}   capture_fallback.sql
--   bounded      once when the outbox has a limit
--   tried        once when a capture is an expression, which may fail for a row: {none}, a condition over r that holds for
--                no row and takes every such value
--   captures     once for each capture: {n} its number from 1, {id} its id, {select} select or select distinct
#variable_conflict use_column
declare
  several boolean;
{#captures}
  value{n} pg_catalog.text;
{/captures}
begin
{#bounded}
  if {schema}.outbox_is_full() then
    return null;
  end if;
{/bounded}
  begin
    for {variables} in
      select {columns} from {values} as r limit 2
    loop
      several := several is not null;
    end loop;
{#tried}
    if several then
      perform from {values} as r where {none};
    end if;
{/tried}
{fallback}
  if several then
{#captures}
    insert into {schema}.outbox (capture, keys)
    select {id}, pg_catalog.array_agg(p.key)
    from (select d.key, {part} as part
          from ({select} r.v{n} as key from {values} as r where r.v{n} is not null) as d) as p
    group by p.part;
{/captures}
{#bounded}
    perform {schema}.limit_outbox();
{/bounded}
  elsif not several then
{#captures}
    if value{n} is not null then
      insert into {schema}.outbox (capture, keys)
      values ({id}, array[value{n}]);
    end if;
{/captures}
  end if;
  return null;
end
