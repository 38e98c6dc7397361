-- What `lockstep apply` puts beside the tables of schema/blog for config/blog.toml: the functions and triggers of the first
-- pipeline of a database, in the order in which they are made.
create or replace function lockstep.resolve_c0fc51bdc3f3f43d(bigint[]) returns setof text language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $lockstep$
#variable_conflict use_column
begin
  return query
select (d.id)::text from blog.blogposts as d where d.user_id = any($1) and (d.id)::text is not null;
end
$lockstep$;
revoke all on function lockstep.resolve_c0fc51bdc3f3f43d(bigint[]) from public;

create or replace function lockstep.capture_1_blogposts_e7ea6df8_insert() returns trigger language plpgsql security definer as $lockstep$
#variable_conflict use_column
declare
  several boolean;
  value1 pg_catalog.text;
begin
  begin
    for value1 in
      select r.v1 from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as blogposts) as r limit 2
    loop
      several := several is not null;
    end loop;
  exception
    when transaction_rollback then
      raise;
    when others then
      perform pg_catalog.set_config('lockstep.fallback', sqlerrm, true);
      begin
        insert into lockstep.outbox (capture, keys)
        select 1, pg_catalog.array_agg(p.key)
        from (select d.key, (pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) 128)) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
              from (select distinct r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as blogposts) as r) as d
              where d.key is not null) as p
        group by p.part;
      exception
        when transaction_rollback then
          raise;
        when others then
          raise log 'lockstep notes all of %.%: %', tg_table_schema, tg_table_name, sqlerrm;
          insert into lockstep.outbox (capture, keys)
          select 1, null where exists (select from new_rows);
      end;
      return null;
  end;
  if several then
    insert into lockstep.outbox (capture, keys)
    select 1, pg_catalog.array_agg(p.key)
    from (select d.key, (pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) 128)) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
          from (select r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as blogposts) as r where r.v1 is not null) as d) as p
    group by p.part;
  elsif not several then
    if value1 is not null then
      insert into lockstep.outbox (capture, keys)
      values (1, array[value1]);
    end if;
  end if;
  return null;
end
$lockstep$;
revoke all on function lockstep.capture_1_blogposts_e7ea6df8_insert() from public;

create or replace function lockstep.capture_1_blogposts_e7ea6df8_update() returns trigger language plpgsql security definer as $lockstep$
#variable_conflict use_column
declare
  several boolean;
  keys1 pg_catalog.text[];
begin
  begin
    for keys1 in
      select case when pg_catalog.record_image_ne(row(o.k1, o.c3, o.c2, o.c1), row(n.k1, n.c3, n.c2, n.c1)) then case when o.v1 operator(pg_catalog.=) n.v1 then array[n.v1] else pg_catalog.array_remove(array[o.v1, n.v1], null) end end
      from (select blogposts.id as k1, blogposts.body as c1, blogposts.title as c2, blogposts.user_id as c3, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as blogposts) as o
      left join (select blogposts.id as k1, blogposts.body as c1, blogposts.title as c2, blogposts.user_id as c3, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as blogposts) as n on true
      limit 2
    loop
      several := several is not null;
    end loop;
  exception
    when transaction_rollback then
      raise;
    when others then
      perform pg_catalog.set_config('lockstep.fallback', sqlerrm, true);
      begin
        insert into lockstep.outbox (capture, keys)
        select 1, pg_catalog.array_agg(p.key)
        from (select d.key, (pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) 128)) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
              from (select r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as blogposts) as r union select r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as blogposts) as r) as d
              where d.key is not null) as p
        group by p.part;
      exception
        when transaction_rollback then
          raise;
        when others then
          raise log 'lockstep notes all of %.%: %', tg_table_schema, tg_table_name, sqlerrm;
          insert into lockstep.outbox (capture, keys)
          select 1, null where exists (select from old_rows);
      end;
      return null;
  end;
  if several then
    insert into lockstep.outbox (capture, keys)
    select 1, pg_catalog.array_agg(p.key)
    from (select d.key, (pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) 128)) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
          from (select coalesce(n.v1, o.v1) as key from (select blogposts.id as k1, blogposts.body as c1, blogposts.title as c2, blogposts.user_id as c3, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as blogposts) as o
                full join (select blogposts.id as k1, blogposts.body as c1, blogposts.title as c2, blogposts.user_id as c3, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as blogposts) as n on o.k1 operator(pg_catalog.=) n.k1
                where pg_catalog.record_image_ne(row(o.k1, o.c3, o.c2, o.c1), row(n.k1, n.c3, n.c2, n.c1))) as d) as p
    group by p.part;
  elsif not several then
    if keys1 is not null then
      insert into lockstep.outbox (capture, keys)
      values (1, keys1);
    end if;
  end if;
  return null;
end
$lockstep$;
revoke all on function lockstep.capture_1_blogposts_e7ea6df8_update() from public;

create or replace function lockstep.capture_1_blogposts_e7ea6df8_delete() returns trigger language plpgsql security definer as $lockstep$
#variable_conflict use_column
declare
  several boolean;
  value1 pg_catalog.text;
begin
  begin
    for value1 in
      select r.v1 from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as blogposts) as r limit 2
    loop
      several := several is not null;
    end loop;
  exception
    when transaction_rollback then
      raise;
    when others then
      perform pg_catalog.set_config('lockstep.fallback', sqlerrm, true);
      begin
        insert into lockstep.outbox (capture, keys)
        select 1, pg_catalog.array_agg(p.key)
        from (select d.key, (pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) 128)) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
              from (select distinct r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as blogposts) as r) as d
              where d.key is not null) as p
        group by p.part;
      exception
        when transaction_rollback then
          raise;
        when others then
          raise log 'lockstep notes all of %.%: %', tg_table_schema, tg_table_name, sqlerrm;
          insert into lockstep.outbox (capture, keys)
          select 1, null where exists (select from old_rows);
      end;
      return null;
  end;
  if several then
    insert into lockstep.outbox (capture, keys)
    select 1, pg_catalog.array_agg(p.key)
    from (select d.key, (pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) 128)) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
          from (select r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as blogposts) as r where r.v1 is not null) as d) as p
    group by p.part;
  elsif not several then
    if value1 is not null then
      insert into lockstep.outbox (capture, keys)
      values (1, array[value1]);
    end if;
  end if;
  return null;
end
$lockstep$;
revoke all on function lockstep.capture_1_blogposts_e7ea6df8_delete() from public;

create or replace function lockstep.capture_1_blogposts_e7ea6df8_truncate() returns trigger language plpgsql security definer as $lockstep$
begin
  insert into lockstep.outbox (capture, keys)
  values (1, null);
  return null;
end
$lockstep$;
revoke all on function lockstep.capture_1_blogposts_e7ea6df8_truncate() from public;

create or replace function lockstep.capture_1_blogposts_e7ea6df8_check() returns text language plpgsql security definer set lock_timeout = '100ms' set search_path = pg_catalog, pg_temp as $lockstep$
begin
  perform case when pg_catalog.record_image_ne(row(o.k1, o.c3, o.c2, o.c1), row(n.k1, n.c3, n.c2, n.c1)) then case when o.v1 operator(pg_catalog.=) n.v1 then array[n.v1] else pg_catalog.array_remove(array[o.v1, n.v1], null) end end
  from (select blogposts.id as k1, blogposts.body as c1, blogposts.title as c2, blogposts.user_id as c3, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from only blog.blogposts as blogposts) as o
  left join (select blogposts.id as k1, blogposts.body as c1, blogposts.title as c2, blogposts.user_id as c3, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from only blog.blogposts as blogposts) as n on o.k1 operator(pg_catalog.=) n.k1
  limit 0;
  return null;
exception
  when lock_not_available then
    return null;
  when others then
    return pg_catalog.format('triggers of %s do not fit it any more (%s), so each change of it counts; run `lockstep apply`',
                             'blog.blogposts', sqlerrm);
end
$lockstep$;
revoke all on function lockstep.capture_1_blogposts_e7ea6df8_check() from public;

create or replace function lockstep.capture_1_blogposts_e7ea6df8_parts() returns setof text language plpgsql security definer set lock_timeout = '100ms' set search_path = pg_catalog, pg_temp as $lockstep1$
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
    raise exception 'the parts of % can be followed in read committed only', 'blog.blogposts';
  end if;
  for part in
    with recursive members (oid) as (
      select i.inhrelid from pg_inherits as i
      where i.inhparent = to_regclass('blog.blogposts') and (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
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
                 from lockstep.part as p
                 where p.pipeline = 1 and p.relation = 'blog.blogposts') as k on k.oid = m.oid
      left join pg_class as c on c.oid = coalesce(m.oid, k.oid)
      left join pg_namespace as n on n.oid = c.relnamespace
      -- In a restored database the oid that is known may be another table's.
      cross join lateral (select quote_ident(n.nspname) || '.' || quote_ident(c.relname)) as r(name)
      join pg_class as t on t.oid = to_regclass('blog.blogposts')
    where m.oid is null or k.oid is null or k.above <> lockstep.tables_above(m.oid)
    order by 1
  loop
    continue when part.is_part and not part.is_foreign and not part.has_same_owner;
    change := format(case when part.has_moved then '%s, a part of %s, is below other tables now, or was attached again'
                          when part.is_part then '%s is a new part of %s'
                          when part.is_dropped then '%s, a part of %s, was dropped'
                          when part.name is null then '%s is no part of %s any more, and has another name'
                          else '%s is no part of %s any more' end, coalesce(part.name, part.known_as), 'blog.blogposts');
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
        if not exists (select from pg_trigger as t
                       where t.tgrelid = part.oid and t.tgenabled = 'A' and t.tgfoid = 'lockstep.capture_1_blogposts_e7ea6df8_insert'::regproc) then
          execute format($lockstep$create trigger lockstep_1_insert after insert on %1$s referencing new table as new_rows for each statement execute function lockstep.capture_1_blogposts_e7ea6df8_insert();
alter table %1$s enable always trigger lockstep_1_insert$lockstep$, part.name);
        end if;
        if not exists (select from pg_trigger as t
                       where t.tgrelid = part.oid and t.tgenabled = 'A' and t.tgfoid = 'lockstep.capture_1_blogposts_e7ea6df8_update'::regproc) then
          execute format($lockstep$create trigger lockstep_1_update after update on %1$s referencing old table as old_rows new table as new_rows for each statement execute function lockstep.capture_1_blogposts_e7ea6df8_update();
alter table %1$s enable always trigger lockstep_1_update$lockstep$, part.name);
        end if;
        if not exists (select from pg_trigger as t
                       where t.tgrelid = part.oid and t.tgenabled = 'A' and t.tgfoid = 'lockstep.capture_1_blogposts_e7ea6df8_delete'::regproc) then
          execute format($lockstep$create trigger lockstep_1_delete after delete on %1$s referencing old table as old_rows for each statement execute function lockstep.capture_1_blogposts_e7ea6df8_delete();
alter table %1$s enable always trigger lockstep_1_delete$lockstep$, part.name);
        end if;
        if not exists (select from pg_trigger as t
                       where t.tgrelid = part.oid and t.tgenabled = 'A' and t.tgfoid = 'lockstep.capture_1_blogposts_e7ea6df8_truncate'::regproc) then
          execute format($lockstep$create trigger lockstep_1_truncate after truncate on %1$s for each statement execute function lockstep.capture_1_blogposts_e7ea6df8_truncate();
alter table %1$s enable always trigger lockstep_1_truncate$lockstep$, part.name);
        end if;
      end if;
      execute format('select count(*) from (select from only %s limit %s) as r', part.name, most + 1) into number;
      if number > most then
        reason := change || format(', with more than %s rows', most);
      else
        begin
          -- Each value once, so that what fails does so before anything is written: a row that a subtransaction writes
          -- would have another xmin than its transaction.
          execute 'select count(*) from (' || format($lockstep$select distinct r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from only %1$s as blogposts) as r$lockstep$, part.name) || ') as d';
        exception
          when transaction_rollback then
            raise;
          when others then
            reason := change || ', whose rows cannot be looked at (' || sqlerrm || ')';
        end;
      end if;
      if reason is null then
        for found_keys in execute
          'select array_agg(p.key) from (select d.key, (pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) 128)) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as page from (' || format($lockstep$select distinct r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from only %1$s as blogposts) as r$lockstep$, part.name)
          || ') as d where d.key is not null) as p group by p.page'
        loop
          insert into lockstep.outbox (capture, keys) values (1, found_keys);
        end loop;
      end if;
      if not part.is_part then
        begin
          execute format('lock table only %s in access exclusive mode' || patience, part.name);
          execute format($lockstep$drop trigger if exists lockstep_1_insert on %1$s$lockstep$, part.name);
          execute format($lockstep$drop trigger if exists lockstep_1_update on %1$s$lockstep$, part.name);
          execute format($lockstep$drop trigger if exists lockstep_1_delete on %1$s$lockstep$, part.name);
          execute format($lockstep$drop trigger if exists lockstep_1_truncate on %1$s$lockstep$, part.name);
        exception
          when lock_not_available then
            patience := ' nowait';
        end;
      end if;
    end if;
    has_followed := true;
    if part.is_part then
      insert into lockstep.part (pipeline, relation, table_oid, name, above)
      values (1, 'blog.blogposts', part.oid, part.name, lockstep.tables_above(part.oid))
      on conflict (pipeline, relation, table_oid) do update set name = excluded.name, above = excluded.above;
    else
      delete from lockstep.part as p where p.pipeline = 1 and p.relation = 'blog.blogposts' and p.table_oid = part.oid;
    end if;
    if reason is null then
      return next change || case number when 0 then '; it is empty' else '; the documents of its rows (' || number || ') are written again' end;
    else
      insert into lockstep.job (pipeline, index, kind, reason)
      select 1, i.id, k.kind, reason
      from lockstep.index as i
        cross join (values (1, 'comparison'), (2, 'sweep')) as k(number, kind)
      where i.followed and exists (select from lockstep.track as t where t.index = i.id and t.capture in (1))
        and not exists (select from lockstep.job as j where j.index = i.id and j.kind = k.kind and j.position is null)
      order by i.id, k.number;
      return next reason || '; the indices that follow it are compared with their views';
    end if;
  end loop;
  if has_followed then
    update lockstep.pipeline as p set parts_followed = pg_snapshot_xmax(pg_current_snapshot()) where p.id = 1;
  end if;
end
$lockstep1$;
revoke all on function lockstep.capture_1_blogposts_e7ea6df8_parts() from public;

create or replace function lockstep.capture_1_users_33a421cb_insert() returns trigger language plpgsql security definer as $lockstep$
#variable_conflict use_column
declare
  several boolean;
  value1 pg_catalog.text;
begin
  begin
    for value1 in
      select r.v1 from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as users) as r limit 2
    loop
      several := several is not null;
    end loop;
  exception
    when transaction_rollback then
      raise;
    when others then
      perform pg_catalog.set_config('lockstep.fallback', sqlerrm, true);
      begin
        insert into lockstep.outbox (capture, keys)
        select 2, pg_catalog.array_agg(p.key)
        from (select d.key, (pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) 128)) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
              from (select distinct r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as users) as r) as d
              where d.key is not null) as p
        group by p.part;
      exception
        when transaction_rollback then
          raise;
        when others then
          raise log 'lockstep notes all of %.%: %', tg_table_schema, tg_table_name, sqlerrm;
          insert into lockstep.outbox (capture, keys)
          select 2, null where exists (select from new_rows);
      end;
      return null;
  end;
  if several then
    insert into lockstep.outbox (capture, keys)
    select 2, pg_catalog.array_agg(p.key)
    from (select d.key, (pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) 128)) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
          from (select r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as users) as r where r.v1 is not null) as d) as p
    group by p.part;
  elsif not several then
    if value1 is not null then
      insert into lockstep.outbox (capture, keys)
      values (2, array[value1]);
    end if;
  end if;
  return null;
end
$lockstep$;
revoke all on function lockstep.capture_1_users_33a421cb_insert() from public;

create or replace function lockstep.capture_1_users_33a421cb_update() returns trigger language plpgsql security definer as $lockstep$
#variable_conflict use_column
declare
  several boolean;
  keys1 pg_catalog.text[];
begin
  begin
    for keys1 in
      select case when pg_catalog.record_image_ne(row(o.k1, o.c1), row(n.k1, n.c1)) then case when o.v1 operator(pg_catalog.=) n.v1 then array[n.v1] else pg_catalog.array_remove(array[o.v1, n.v1], null) end end
      from (select users.id as k1, users.name as c1, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as users) as o
      left join (select users.id as k1, users.name as c1, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as users) as n on true
      limit 2
    loop
      several := several is not null;
    end loop;
  exception
    when transaction_rollback then
      raise;
    when others then
      perform pg_catalog.set_config('lockstep.fallback', sqlerrm, true);
      begin
        insert into lockstep.outbox (capture, keys)
        select 2, pg_catalog.array_agg(p.key)
        from (select d.key, (pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) 128)) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
              from (select r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as users) as r union select r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as users) as r) as d
              where d.key is not null) as p
        group by p.part;
      exception
        when transaction_rollback then
          raise;
        when others then
          raise log 'lockstep notes all of %.%: %', tg_table_schema, tg_table_name, sqlerrm;
          insert into lockstep.outbox (capture, keys)
          select 2, null where exists (select from old_rows);
      end;
      return null;
  end;
  if several then
    insert into lockstep.outbox (capture, keys)
    select 2, pg_catalog.array_agg(p.key)
    from (select d.key, (pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) 128)) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
          from (select coalesce(n.v1, o.v1) as key from (select users.id as k1, users.name as c1, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as users) as o
                full join (select users.id as k1, users.name as c1, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as users) as n on o.k1 operator(pg_catalog.=) n.k1
                where pg_catalog.record_image_ne(row(o.k1, o.c1), row(n.k1, n.c1))) as d) as p
    group by p.part;
  elsif not several then
    if keys1 is not null then
      insert into lockstep.outbox (capture, keys)
      values (2, keys1);
    end if;
  end if;
  return null;
end
$lockstep$;
revoke all on function lockstep.capture_1_users_33a421cb_update() from public;

create or replace function lockstep.capture_1_users_33a421cb_delete() returns trigger language plpgsql security definer as $lockstep$
#variable_conflict use_column
declare
  several boolean;
  value1 pg_catalog.text;
begin
  begin
    for value1 in
      select r.v1 from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as users) as r limit 2
    loop
      several := several is not null;
    end loop;
  exception
    when transaction_rollback then
      raise;
    when others then
      perform pg_catalog.set_config('lockstep.fallback', sqlerrm, true);
      begin
        insert into lockstep.outbox (capture, keys)
        select 2, pg_catalog.array_agg(p.key)
        from (select d.key, (pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) 128)) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
              from (select distinct r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as users) as r) as d
              where d.key is not null) as p
        group by p.part;
      exception
        when transaction_rollback then
          raise;
        when others then
          raise log 'lockstep notes all of %.%: %', tg_table_schema, tg_table_name, sqlerrm;
          insert into lockstep.outbox (capture, keys)
          select 2, null where exists (select from old_rows);
      end;
      return null;
  end;
  if several then
    insert into lockstep.outbox (capture, keys)
    select 2, pg_catalog.array_agg(p.key)
    from (select d.key, (pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) 128)) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
          from (select r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as users) as r where r.v1 is not null) as d) as p
    group by p.part;
  elsif not several then
    if value1 is not null then
      insert into lockstep.outbox (capture, keys)
      values (2, array[value1]);
    end if;
  end if;
  return null;
end
$lockstep$;
revoke all on function lockstep.capture_1_users_33a421cb_delete() from public;

create or replace function lockstep.capture_1_users_33a421cb_truncate() returns trigger language plpgsql security definer as $lockstep$
begin
  insert into lockstep.outbox (capture, keys)
  values (2, null);
  return null;
end
$lockstep$;
revoke all on function lockstep.capture_1_users_33a421cb_truncate() from public;

create or replace function lockstep.capture_1_users_33a421cb_check() returns text language plpgsql security definer set lock_timeout = '100ms' set search_path = pg_catalog, pg_temp as $lockstep$
begin
  perform case when pg_catalog.record_image_ne(row(o.k1, o.c1), row(n.k1, n.c1)) then case when o.v1 operator(pg_catalog.=) n.v1 then array[n.v1] else pg_catalog.array_remove(array[o.v1, n.v1], null) end end
  from (select users.id as k1, users.name as c1, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from only blog.users as users) as o
  left join (select users.id as k1, users.name as c1, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from only blog.users as users) as n on o.k1 operator(pg_catalog.=) n.k1
  limit 0;
  return null;
exception
  when lock_not_available then
    return null;
  when others then
    return pg_catalog.format('triggers of %s do not fit it any more (%s), so each change of it counts; run `lockstep apply`',
                             'blog.users', sqlerrm);
end
$lockstep$;
revoke all on function lockstep.capture_1_users_33a421cb_check() from public;

create or replace function lockstep.capture_1_users_33a421cb_parts() returns setof text language plpgsql security definer set lock_timeout = '100ms' set search_path = pg_catalog, pg_temp as $lockstep1$
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
    raise exception 'the parts of % can be followed in read committed only', 'blog.users';
  end if;
  for part in
    with recursive members (oid) as (
      select i.inhrelid from pg_inherits as i
      where i.inhparent = to_regclass('blog.users') and (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
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
                 from lockstep.part as p
                 where p.pipeline = 1 and p.relation = 'blog.users') as k on k.oid = m.oid
      left join pg_class as c on c.oid = coalesce(m.oid, k.oid)
      left join pg_namespace as n on n.oid = c.relnamespace
      -- In a restored database the oid that is known may be another table's.
      cross join lateral (select quote_ident(n.nspname) || '.' || quote_ident(c.relname)) as r(name)
      join pg_class as t on t.oid = to_regclass('blog.users')
    where m.oid is null or k.oid is null or k.above <> lockstep.tables_above(m.oid)
    order by 1
  loop
    continue when part.is_part and not part.is_foreign and not part.has_same_owner;
    change := format(case when part.has_moved then '%s, a part of %s, is below other tables now, or was attached again'
                          when part.is_part then '%s is a new part of %s'
                          when part.is_dropped then '%s, a part of %s, was dropped'
                          when part.name is null then '%s is no part of %s any more, and has another name'
                          else '%s is no part of %s any more' end, coalesce(part.name, part.known_as), 'blog.users');
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
        if not exists (select from pg_trigger as t
                       where t.tgrelid = part.oid and t.tgenabled = 'A' and t.tgfoid = 'lockstep.capture_1_users_33a421cb_insert'::regproc) then
          execute format($lockstep$create trigger lockstep_1_insert after insert on %1$s referencing new table as new_rows for each statement execute function lockstep.capture_1_users_33a421cb_insert();
alter table %1$s enable always trigger lockstep_1_insert$lockstep$, part.name);
        end if;
        if not exists (select from pg_trigger as t
                       where t.tgrelid = part.oid and t.tgenabled = 'A' and t.tgfoid = 'lockstep.capture_1_users_33a421cb_update'::regproc) then
          execute format($lockstep$create trigger lockstep_1_update after update on %1$s referencing old table as old_rows new table as new_rows for each statement execute function lockstep.capture_1_users_33a421cb_update();
alter table %1$s enable always trigger lockstep_1_update$lockstep$, part.name);
        end if;
        if not exists (select from pg_trigger as t
                       where t.tgrelid = part.oid and t.tgenabled = 'A' and t.tgfoid = 'lockstep.capture_1_users_33a421cb_delete'::regproc) then
          execute format($lockstep$create trigger lockstep_1_delete after delete on %1$s referencing old table as old_rows for each statement execute function lockstep.capture_1_users_33a421cb_delete();
alter table %1$s enable always trigger lockstep_1_delete$lockstep$, part.name);
        end if;
        if not exists (select from pg_trigger as t
                       where t.tgrelid = part.oid and t.tgenabled = 'A' and t.tgfoid = 'lockstep.capture_1_users_33a421cb_truncate'::regproc) then
          execute format($lockstep$create trigger lockstep_1_truncate after truncate on %1$s for each statement execute function lockstep.capture_1_users_33a421cb_truncate();
alter table %1$s enable always trigger lockstep_1_truncate$lockstep$, part.name);
        end if;
      end if;
      execute format('select count(*) from (select from only %s limit %s) as r', part.name, most + 1) into number;
      if number > most then
        reason := change || format(', with more than %s rows', most);
      else
        begin
          -- Each value once, so that what fails does so before anything is written: a row that a subtransaction writes
          -- would have another xmin than its transaction.
          execute 'select count(*) from (' || format($lockstep$select distinct r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from only %1$s as users) as r$lockstep$, part.name) || ') as d';
        exception
          when transaction_rollback then
            raise;
          when others then
            reason := change || ', whose rows cannot be looked at (' || sqlerrm || ')';
        end;
      end if;
      if reason is null then
        for found_keys in execute
          'select array_agg(p.key) from (select d.key, (pg_catalog.sum(greatest(1, pg_catalog.octet_length(d.key) operator(pg_catalog./) 128)) over (rows unbounded preceding) operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as page from (' || format($lockstep$select distinct r.v1 as key from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from only %1$s as users) as r$lockstep$, part.name)
          || ') as d where d.key is not null) as p group by p.page'
        loop
          insert into lockstep.outbox (capture, keys) values (2, found_keys);
        end loop;
      end if;
      if not part.is_part then
        begin
          execute format('lock table only %s in access exclusive mode' || patience, part.name);
          execute format($lockstep$drop trigger if exists lockstep_1_insert on %1$s$lockstep$, part.name);
          execute format($lockstep$drop trigger if exists lockstep_1_update on %1$s$lockstep$, part.name);
          execute format($lockstep$drop trigger if exists lockstep_1_delete on %1$s$lockstep$, part.name);
          execute format($lockstep$drop trigger if exists lockstep_1_truncate on %1$s$lockstep$, part.name);
        exception
          when lock_not_available then
            patience := ' nowait';
        end;
      end if;
    end if;
    has_followed := true;
    if part.is_part then
      insert into lockstep.part (pipeline, relation, table_oid, name, above)
      values (1, 'blog.users', part.oid, part.name, lockstep.tables_above(part.oid))
      on conflict (pipeline, relation, table_oid) do update set name = excluded.name, above = excluded.above;
    else
      delete from lockstep.part as p where p.pipeline = 1 and p.relation = 'blog.users' and p.table_oid = part.oid;
    end if;
    if reason is null then
      return next change || case number when 0 then '; it is empty' else '; the documents of its rows (' || number || ') are written again' end;
    else
      insert into lockstep.job (pipeline, index, kind, reason)
      select 1, i.id, k.kind, reason
      from lockstep.index as i
        cross join (values (1, 'comparison'), (2, 'sweep')) as k(number, kind)
      where i.followed and exists (select from lockstep.track as t where t.index = i.id and t.capture in (2))
        and not exists (select from lockstep.job as j where j.index = i.id and j.kind = k.kind and j.position is null)
      order by i.id, k.number;
      return next reason || '; the indices that follow it are compared with their views';
    end if;
  end loop;
  if has_followed then
    update lockstep.pipeline as p set parts_followed = pg_snapshot_xmax(pg_current_snapshot()) where p.id = 1;
  end if;
end
$lockstep1$;
revoke all on function lockstep.capture_1_users_33a421cb_parts() from public;

create trigger lockstep_1_insert after insert on blog.blogposts referencing new table as new_rows for each statement execute function lockstep.capture_1_blogposts_e7ea6df8_insert();
alter table blog.blogposts enable always trigger lockstep_1_insert;

create trigger lockstep_1_update after update on blog.blogposts referencing old table as old_rows new table as new_rows for each statement execute function lockstep.capture_1_blogposts_e7ea6df8_update();
alter table blog.blogposts enable always trigger lockstep_1_update;

create trigger lockstep_1_delete after delete on blog.blogposts referencing old table as old_rows for each statement execute function lockstep.capture_1_blogposts_e7ea6df8_delete();
alter table blog.blogposts enable always trigger lockstep_1_delete;

create trigger lockstep_1_truncate after truncate on blog.blogposts for each statement execute function lockstep.capture_1_blogposts_e7ea6df8_truncate();
alter table blog.blogposts enable always trigger lockstep_1_truncate;

create trigger lockstep_1_insert after insert on blog.users referencing new table as new_rows for each statement execute function lockstep.capture_1_users_33a421cb_insert();
alter table blog.users enable always trigger lockstep_1_insert;

create trigger lockstep_1_update after update on blog.users referencing old table as old_rows new table as new_rows for each statement execute function lockstep.capture_1_users_33a421cb_update();
alter table blog.users enable always trigger lockstep_1_update;

create trigger lockstep_1_delete after delete on blog.users referencing old table as old_rows for each statement execute function lockstep.capture_1_users_33a421cb_delete();
alter table blog.users enable always trigger lockstep_1_delete;

create trigger lockstep_1_truncate after truncate on blog.users for each statement execute function lockstep.capture_1_users_33a421cb_truncate();
alter table blog.users enable always trigger lockstep_1_truncate;
