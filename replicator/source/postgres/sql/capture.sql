-- name: capture_rows
-- Body of the functions that the insert trigger and the delete trigger of a tracked table call (define/triggers.h,
-- T2, T4 and T5). A statement that touched one row writes what the loop has found, which ends at the second row; a later
-- statement of many rows may find the outbox full.
--   {schema}     Lockstep's schema
--   {part}       the row of the outbox into which d.key goes
--   {rows}       the transition table: new_rows or old_rows
--   {values}     query of v1, v2, ..., what each capture takes from these rows
--   {columns}    r.v1, r.v2, ...
--   {variables}  value1, value2, ...
--   {fallback}   capture_fallback
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

-- name: capture_parts
-- Body of the function that follows the parts of a tracked table, its partitions and the tables that inherit from it, as they
-- come and go (define/triggers.h, T6). It returns a sentence for each that did. A part gets the triggers that it lacks. Then the
-- values of its rows are noted, as if each row had been inserted, or deleted. What it cannot read any more, or would read for
-- long, becomes a comparison of the indices that follow the table. A part that has left loses its triggers unless a session
-- reads it: those that stay do no harm, and `apply` drops them.
-- A part that another session holds is left for the next look, so that the others need not wait for it.
-- It runs nothing that belongs to another role than the tracked table does: a part of another role is left to `apply`.
--   {schema}    Lockstep's schema
--   {part}      the row of the outbox into which d.key goes
--   {pipeline}  its id
--   {relation}  the tracked table's name as a literal
--   {ids}       the ids of the captures
--   events      once for each trigger: {create}, {drop}, texts for format() of the part's name, {function} a literal
--   captures    once for each: {id}, {keys} a query of its values, as key, likewise
#variable_conflict use_column
declare
  most constant integer := 100000;
  part   record;
  number bigint;
  found_keys text[];
  change text;
  reason text;
  patience text := '';
  has_followed boolean := false;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    -- An older snapshot would overlook what others wrote before the lock.
    raise exception 'the parts of % can be followed in read committed only', {relation};
  end if;
  for part in
    with recursive members (oid) as (
      select i.inhrelid from pg_inherits as i
      where i.inhparent = to_regclass({relation}) and (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
      union
      select i.inhrelid from members as m join pg_inherits as i on i.inhparent = m.oid
      where (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
    )
    select coalesce(m.oid, k.oid) as oid, m.oid is not null as is_part, m.oid is not null and k.oid is not null as has_moved,
           k.name as known_as, c.relkind = 'f' as is_foreign,
           c.relowner = t.relowner as has_same_owner, case when m.oid is not null or r.name = k.name then r.name end as name,
           c.oid is null as is_dropped
    from members as m
      full join (select p.table_oid as oid, p.name, p.above
                 from {schema}.part as p
                 where p.pipeline = {pipeline} and p.relation = {relation}) as k on k.oid = m.oid
      left join pg_class as c on c.oid = coalesce(m.oid, k.oid)
      left join pg_namespace as n on n.oid = c.relnamespace
      -- In a restored database the oid that is known may be another table's.
      cross join lateral (select quote_ident(n.nspname) || '.' || quote_ident(c.relname)) as r(name)
      join pg_class as t on t.oid = to_regclass({relation})
    where m.oid is null or k.oid is null or k.above <> {schema}.tables_above(m.oid)
    order by 1
  loop
    continue when part.is_part and not part.is_foreign and not part.has_same_owner;
    change := format(case when part.has_moved then '%s, a part of %s, is below other tables now, or was attached again'
                          when part.is_part then '%s is a new part of %s'
                          when part.is_dropped then '%s, a part of %s, was dropped'
                          when part.name is null then '%s is no part of %s any more, and has another name'
                          else '%s is no part of %s any more' end, coalesce(part.name, part.known_as), {relation});
    reason := null;
    if part.name is null or part.is_foreign or not part.has_same_owner then
      reason := change;
    else
      begin
        -- A session that writes to it without triggers ends before what is read below.
        execute format('lock table only %s in share row exclusive mode' || patience, part.name);
      exception
        when lock_not_available then
          patience := ' nowait';
          continue;
      end;
      continue when to_regclass(part.name) is distinct from part.oid;
      if part.is_part then
{#events}
        if not exists (select from pg_trigger as t
                       where t.tgrelid = part.oid and t.tgenabled = 'A' and t.tgfoid = {function}::regproc) then
          execute format({create}, part.name);
        end if;
{/events}
      end if;
      execute format('select count(*) from (select from only %s limit %s) as r', part.name, most + 1) into number;
      if number > most then
        reason := change || format(', with more than %s rows', most);
      else
        begin
          -- Each value once, so that what fails does so before anything is written: a row that a subtransaction writes
          -- would have another xmin than its transaction.
{#captures}
          execute 'select count(*) from (' || format({keys}, part.name) || ') as d';
{/captures}
        exception
          when transaction_rollback then
            raise;
          when others then
            reason := change || ', whose rows cannot be looked at (' || sqlerrm || ')';
        end;
      end if;
      if reason is null then
{#captures}
        for found_keys in execute
          'select array_agg(p.key) from (select d.key, {part} as page from (' || format({keys}, part.name)
          || ') as d where d.key is not null) as p group by p.page'
        loop
          insert into {schema}.outbox (capture, keys) values ({id}, found_keys);
        end loop;
{/captures}
      end if;
      if not part.is_part then
        begin
          execute format('lock table only %s in access exclusive mode' || patience, part.name);
{#events}
          execute format({drop}, part.name);
{/events}
        exception
          when lock_not_available then
            patience := ' nowait';
        end;
      end if;
    end if;
    has_followed := true;
    if part.is_part then
      insert into {schema}.part (pipeline, relation, table_oid, name, above)
      values ({pipeline}, {relation}, part.oid, part.name, {schema}.tables_above(part.oid))
      on conflict (pipeline, relation, table_oid) do update set name = excluded.name, above = excluded.above;
    else
      delete from {schema}.part as p where p.pipeline = {pipeline} and p.relation = {relation} and p.table_oid = part.oid;
    end if;
    if reason is null then
      return next change || case number when 0 then '; it is empty' else '; the documents of its rows (' || number || ') are written again' end;
    else
      insert into {schema}.job (pipeline, index, kind, reason)
      select {pipeline}, i.id, k.kind, reason
      from {schema}.index as i
        cross join (values (1, 'comparison'), (2, 'sweep')) as k(number, kind)
      where i.followed and exists (select from {schema}.track as t where t.index = i.id and t.capture in ({ids}))
        and not exists (select from {schema}.job as j where j.index = i.id and j.kind = k.kind and j.position is null)
      order by i.id, k.number;
      return next reason || '; the indices that follow it are compared with their views';
    end if;
  end loop;
  if has_followed then
    update {schema}.pipeline as p set parts_followed = pg_snapshot_xmax(pg_current_snapshot()) where p.id = {pipeline};
  end if;
end

-- name: capture_update
-- Body of the function that the update trigger of a tracked table calls (define/triggers.h, T1 to T5). A statement that
-- touched one row takes the path without a join condition: a loop that ends at the second pair. There may be fewer new
-- rows than old ones, hence the left join: a trigger on the partition into which a row moves can refuse it.
--   {schema}     Lockstep's schema
--   {part}       the row of the outbox into which d.key goes
--   {old}, {new} queries of the rows before and after: k1, k2, ... the primary key, c1, c2, ... the counted columns, w the whole
--                row, v1, v2, ... what each capture takes
--   {columns}    of a pair, for each capture, the array of values to note; null: there is none
--   {variables}  keys1, keys2, ...
--   {same_key}   condition over o and n: the primary key is the same
--   {fallback}   capture_fallback
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

-- name: capture_truncate
-- Body of the function that the truncate trigger of a tracked table calls: any row may have changed. It writes even when
-- the outbox is full.
--   {schema}  Lockstep's schema
--   {values}  (id, null) for each capture
begin
  insert into {schema}.outbox (capture, keys)
  values {values};
  return null;
end

-- name: capture_fallback
-- The end of a block of a trigger function that looks at the changed rows (define/triggers.h, T5). What the block cannot
-- look at, since a column has another name or a function is gone, becomes a note of every changed row's values, and of
-- the whole table where those cannot be had either. It names no column outside of blocks that may fail. The block around
-- it writes nothing, so that it costs a writer no transaction id.
--   {schema}    Lockstep's schema
--   {part}      the row of the outbox into which d.key goes
--   {rows}      the transition table that has a row for each row of the statement
--   bounded     once when the outbox has a limit
--   captures    once for each capture: {id} its id, {keys} a query of its values, as key, in all rows of the statement
  exception
    when transaction_rollback then
      raise;
    when others then
      perform pg_catalog.set_config('lockstep.fallback', sqlerrm, true);
{#captures}
      begin
        insert into {schema}.outbox (capture, keys)
        select {id}, pg_catalog.array_agg(p.key)
        from (select d.key, {part} as part
              from ({keys}) as d
              where d.key is not null) as p
        group by p.part;
      exception
        when transaction_rollback then
          raise;
        when others then
          raise log 'lockstep notes all of %.%: %', tg_table_schema, tg_table_name, sqlerrm;
          insert into {schema}.outbox (capture, keys)
          select {id}, null where exists (select from {rows});
      end;
{/captures}
{#bounded}
      perform {schema}.limit_outbox();
{/bounded}
      return null;
  end;

-- name: capture_check
-- Body of the function that reports why the triggers of a tracked table take the fallback (capture_fallback) for every
-- statement; null: they do not. It reads no row. It does not wait for a session with an exclusive lock on the table.
--   {old}, {new}, {columns}, {same_key}  as in capture_update, over the table itself
--   {relation}                           the table's name as a literal
begin
  perform {columns}
  from {old} as o
  left join {new} as n on {same_key}
  limit 0;
  return null;
exception
  when lock_not_available then
    return null;
  when others then
    return pg_catalog.format('triggers of %s do not fit it any more (%s), so each change of it counts; run `lockstep apply`',
                             {relation}, sqlerrm);
end

-- name: resolver
-- Body of the function that leads from values of a capture, $1, to ids of documents. In PL/pgSQL, which keeps the plan of
-- the query: a function in SQL plans it at each call, and that took longer than the query.
--   {query}  from $1, an array of the value type, to texts
#variable_conflict use_column
begin
  return query
{query};
end
