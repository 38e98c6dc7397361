-- The end of a block of a trigger function that looks at the changed rows (define/triggers.h, T5). What the block cannot
-- look at, since a column has another name or a function is gone, becomes a note of every changed row's values, and of
-- the whole table where those cannot be had either. It names no column outside of blocks that may fail. The block around
-- it writes nothing, so that it costs a writer no transaction id.
--   {schema}    lockstep's schema
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
