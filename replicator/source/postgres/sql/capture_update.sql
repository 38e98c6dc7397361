-- Body of the function that the update trigger of a tracked table calls (define/triggers.h, T1 to T5). A statement that
-- touched one row takes the path without a join condition: a loop that ends at the second pair. There may be fewer new
-- rows than old ones, hence the left join: a trigger on the partition into which a row moves can refuse it.
--   {schema}     lockstep's schema
--   {part}       the row of the outbox into which d.key goes
--   {old}, {new} queries of the rows before and after: k1, k2, ... the primary key, c1, c2, ... the counted columns, w the whole
--                row, v1, v2, ... what each capture takes
--   {columns}    of a pair, for each capture, the array of values to note; null: there is none
--   {variables}  keys1, keys2, ...
--   {same_key}   condition over o and n: the primary key is the same
--   {fallback}   capture_fallback.sql
--   bounded      once when the outbox has a limit
--   tried        once when a capture is an expression, which may fail for a row: {none}, a condition over r that holds for
--                no row and takes every such value
--   captures     once for each capture: {n} its number from 1, {id} its id, {select} select or select distinct, {counts}
--                condition over o and n: the update counts (T1); and one of
--     same_value   its value is the key, and equal keys are the same, byte for byte
--     each_value   the old and the new value of the rows that count
--     any_value    the values of all rows: which old row became which new one is not known, or does not matter
#variable_conflict use_column
declare
  several boolean;
{#captures}
  keys{n} pg_catalog.text[];
{/captures}
begin
{#bounded}
  if {schema}.outbox_is_full() then
    return null;
  end if;
{/bounded}
  begin
    for {variables} in
      select {columns}
      from {old} as o
      left join {new} as n on true
      limit 2
    loop
      several := several is not null;
    end loop;
{#tried}
    if several then
      perform from {old} as r where {none};
      perform from {new} as r where {none};
    end if;
{/tried}
{fallback}
  if several then
{#captures}
    insert into {schema}.outbox (capture, keys)
    select {id}, pg_catalog.array_agg(p.key)
    from (select d.key, {part} as part
{#same_value}
          from (select coalesce(n.v{n}, o.v{n}) as key from {old} as o
                full join {new} as n on {same_key}
                where {counts}) as d) as p
{/same_value}
{#each_value}
          from ({select} u.key
          from (select pg_catalog.unnest(case when o.v{n} operator(pg_catalog.=) n.v{n} then array[n.v{n}] else array[o.v{n}, n.v{n}] end) as key
                from {old} as o
                full join {new} as n on {same_key}
                where {counts}) as u
          where u.key is not null) as d) as p
{/each_value}
{#any_value}
          from (select r.v{n} as key from {old} as r where r.v{n} is not null
          union
          select r.v{n} from {new} as r where r.v{n} is not null) as d) as p
{/any_value}
    group by p.part;
{/captures}
{#bounded}
    perform {schema}.limit_outbox();
{/bounded}
  elsif not several then
{#captures}
    if keys{n} is not null then
      insert into {schema}.outbox (capture, keys)
      values ({id}, keys{n});
    end if;
{/captures}
  end if;
  return null;
end
