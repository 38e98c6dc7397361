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

create or replace function lockstep.capture_1_blogposts_e7ea6df8_insert() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $lockstep$
#variable_conflict use_column
declare
  several boolean;
  value1 pg_catalog.text;
begin
  begin
    select exists (select from new_rows offset 1), r.v1
    into several, value1
    from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as blogposts) as r limit 1;
  exception
    when transaction_rollback then
      raise;
    when others then
      perform pg_catalog.set_config('lockstep.fallback', sqlerrm, true);
      begin
        insert into lockstep.outbox (capture, keys)
        select 1, pg_catalog.array_agg(p.key)
        from (select d.key, (pg_catalog.row_number() over () operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
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
    from (select d.key, (pg_catalog.row_number() over () operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
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

create or replace function lockstep.capture_1_blogposts_e7ea6df8_update() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $lockstep$
#variable_conflict use_column
declare
  several boolean;
  old1 pg_catalog.text;
  new1 pg_catalog.text;
  counts1 boolean;
begin
  begin
    select exists (select from old_rows offset 1),
           o.v1, n.v1, pg_catalog.record_image_ne(row(o.k1, o.c3, o.c2, o.c1), row(n.k1, n.c3, n.c2, n.c1))
    into several, old1, new1, counts1
    from (select blogposts.id as k1, blogposts.body as c1, blogposts.title as c2, blogposts.user_id as c3, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as blogposts) as o
    left join (select blogposts.id as k1, blogposts.body as c1, blogposts.title as c2, blogposts.user_id as c3, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as blogposts) as n on true
    limit 1;
  exception
    when transaction_rollback then
      raise;
    when others then
      perform pg_catalog.set_config('lockstep.fallback', sqlerrm, true);
      begin
        insert into lockstep.outbox (capture, keys)
        select 1, pg_catalog.array_agg(p.key)
        from (select d.key, (pg_catalog.row_number() over () operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
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
    from (select d.key, (pg_catalog.row_number() over () operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
          from (select coalesce(n.v1, o.v1) as key from (select blogposts.id as k1, blogposts.body as c1, blogposts.title as c2, blogposts.user_id as c3, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as blogposts) as o
                full join (select blogposts.id as k1, blogposts.body as c1, blogposts.title as c2, blogposts.user_id as c3, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as blogposts) as n on o.k1 operator(pg_catalog.=) n.k1
                where pg_catalog.record_image_ne(row(o.k1, o.c3, o.c2, o.c1), row(n.k1, n.c3, n.c2, n.c1))) as d) as p
    group by p.part;
  elsif not several then
    if counts1 and coalesce(old1, new1) is not null then
      insert into lockstep.outbox (capture, keys)
      values (1, pg_catalog.array_remove(case when old1 operator(pg_catalog.=) new1 then array[new1] else array[old1, new1] end, null));
    end if;
  end if;
  return null;
end
$lockstep$;
revoke all on function lockstep.capture_1_blogposts_e7ea6df8_update() from public;

create or replace function lockstep.capture_1_blogposts_e7ea6df8_delete() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $lockstep$
#variable_conflict use_column
declare
  several boolean;
  value1 pg_catalog.text;
begin
  begin
    select exists (select from old_rows offset 1), r.v1
    into several, value1
    from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as blogposts) as r limit 1;
  exception
    when transaction_rollback then
      raise;
    when others then
      perform pg_catalog.set_config('lockstep.fallback', sqlerrm, true);
      begin
        insert into lockstep.outbox (capture, keys)
        select 1, pg_catalog.array_agg(p.key)
        from (select d.key, (pg_catalog.row_number() over () operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
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
    from (select d.key, (pg_catalog.row_number() over () operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
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

create or replace function lockstep.capture_1_blogposts_e7ea6df8_truncate() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $lockstep$
begin
  insert into lockstep.outbox (capture, keys)
  values (1, null);
  return null;
end
$lockstep$;
revoke all on function lockstep.capture_1_blogposts_e7ea6df8_truncate() from public;

create or replace function lockstep.capture_1_blogposts_e7ea6df8_check() returns text language plpgsql security definer set lock_timeout = '100ms' set search_path = pg_catalog, pg_temp as $lockstep$
begin
  perform o.v1, n.v1, pg_catalog.record_image_ne(row(o.k1, o.c3, o.c2, o.c1), row(n.k1, n.c3, n.c2, n.c1))
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

create or replace function lockstep.capture_1_users_33a421cb_insert() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $lockstep$
#variable_conflict use_column
declare
  several boolean;
  value1 pg_catalog.text;
begin
  begin
    select exists (select from new_rows offset 1), r.v1
    into several, value1
    from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as users) as r limit 1;
  exception
    when transaction_rollback then
      raise;
    when others then
      perform pg_catalog.set_config('lockstep.fallback', sqlerrm, true);
      begin
        insert into lockstep.outbox (capture, keys)
        select 2, pg_catalog.array_agg(p.key)
        from (select d.key, (pg_catalog.row_number() over () operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
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
    from (select d.key, (pg_catalog.row_number() over () operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
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

create or replace function lockstep.capture_1_users_33a421cb_update() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $lockstep$
#variable_conflict use_column
declare
  several boolean;
  old1 pg_catalog.text;
  new1 pg_catalog.text;
  counts1 boolean;
begin
  begin
    select exists (select from old_rows offset 1),
           o.v1, n.v1, pg_catalog.record_image_ne(row(o.k1, o.c1), row(n.k1, n.c1))
    into several, old1, new1, counts1
    from (select users.id as k1, users.name as c1, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as users) as o
    left join (select users.id as k1, users.name as c1, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as users) as n on true
    limit 1;
  exception
    when transaction_rollback then
      raise;
    when others then
      perform pg_catalog.set_config('lockstep.fallback', sqlerrm, true);
      begin
        insert into lockstep.outbox (capture, keys)
        select 2, pg_catalog.array_agg(p.key)
        from (select d.key, (pg_catalog.row_number() over () operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
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
    from (select d.key, (pg_catalog.row_number() over () operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
          from (select coalesce(n.v1, o.v1) as key from (select users.id as k1, users.name as c1, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as users) as o
                full join (select users.id as k1, users.name as c1, (id
)::pg_catalog.text collate pg_catalog."C" as v1 from new_rows as users) as n on o.k1 operator(pg_catalog.=) n.k1
                where pg_catalog.record_image_ne(row(o.k1, o.c1), row(n.k1, n.c1))) as d) as p
    group by p.part;
  elsif not several then
    if counts1 and coalesce(old1, new1) is not null then
      insert into lockstep.outbox (capture, keys)
      values (2, pg_catalog.array_remove(case when old1 operator(pg_catalog.=) new1 then array[new1] else array[old1, new1] end, null));
    end if;
  end if;
  return null;
end
$lockstep$;
revoke all on function lockstep.capture_1_users_33a421cb_update() from public;

create or replace function lockstep.capture_1_users_33a421cb_delete() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $lockstep$
#variable_conflict use_column
declare
  several boolean;
  value1 pg_catalog.text;
begin
  begin
    select exists (select from old_rows offset 1), r.v1
    into several, value1
    from (select (id
)::pg_catalog.text collate pg_catalog."C" as v1 from old_rows as users) as r limit 1;
  exception
    when transaction_rollback then
      raise;
    when others then
      perform pg_catalog.set_config('lockstep.fallback', sqlerrm, true);
      begin
        insert into lockstep.outbox (capture, keys)
        select 2, pg_catalog.array_agg(p.key)
        from (select d.key, (pg_catalog.row_number() over () operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
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
    from (select d.key, (pg_catalog.row_number() over () operator(pg_catalog.-) 1) operator(pg_catalog./) 1000 as part
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

create or replace function lockstep.capture_1_users_33a421cb_truncate() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $lockstep$
begin
  insert into lockstep.outbox (capture, keys)
  values (2, null);
  return null;
end
$lockstep$;
revoke all on function lockstep.capture_1_users_33a421cb_truncate() from public;

create or replace function lockstep.capture_1_users_33a421cb_check() returns text language plpgsql security definer set lock_timeout = '100ms' set search_path = pg_catalog, pg_temp as $lockstep$
begin
  perform o.v1, n.v1, pg_catalog.record_image_ne(row(o.k1, o.c1), row(n.k1, n.c1))
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
