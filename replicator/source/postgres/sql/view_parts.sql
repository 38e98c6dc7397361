-- name: view_parts
-- A query of what the documents of a view are made of, besides rows: "parts", names and checksums, "rows", where they are in the
-- catalogue, "origin", origin.sql of these, "views", what their checksums are of, as this "version" of the server prints them, and
-- "labels" of enums, in order, each with where its row came from. Whatever makes them other documents without firing a trigger must change a checksum.
--   {view}         oid of the view
--   {schema_text}  Lockstep's schema, as a literal
--   {whole_rows}   array of the quoted names of the tables that it takes as whole rows, which pg_depend does not show
--   {row_origin}   row_origin.sql
--   {origin}       origin.sql of "objects"
--   {settings}     settings_of_database.sql
-- reached: objects, followed through pg_depend, and of tables the columns; 0: none in particular, -1: each. A second
-- checksum follows that of a part's definition: the origin of its rows, since a replaced part may be put back, and `alter
-- column ... using` can keep the type. It has a meaning in this "database" alone, and none in one restored from a dump.
with recursive reached (class, oid, part) as (
  select 'pg_class'::regclass::oid, s.oid, s.part
  from (select {view}::oid, 0
        union all
        select c.oid, -1
        from unnest({whole_rows}) as t (name)
          join pg_namespace as n on n.nspname = (parse_ident(t.name))[1]
          join pg_class as c on c.relnamespace = n.oid and c.relname = (parse_ident(t.name))[2]) as s (oid, part)
  union
  select n.class, n.oid, case when c.relkind in ('v', 'c') then -1 else n.part end
  from reached
  cross join lateral (
    select d.refclassid, d.refobjid, d.refobjsubid
    from pg_class as v
      join pg_rewrite as r on r.ev_class = v.oid and r.ev_type = '1'
      join pg_depend as d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
    where reached.class = 'pg_class'::regclass and v.oid = reached.oid and v.relkind = 'v'
    union all
    select d.refclassid, d.refobjid, d.refobjsubid
    from pg_depend as d
    where reached.class in ('pg_proc'::regclass, 'pg_operator'::regclass) and d.classid = reached.class and d.objid = reached.oid
    union all
    select 'pg_type'::regclass, a.atttypid, 0
    from pg_attribute as a
    where reached.class = 'pg_class'::regclass and a.attrelid = reached.oid and a.attnum > 0 and not a.attisdropped
      and reached.part in (-1, a.attnum)
    union all
    select 'pg_type'::regclass, e.oid, 0
    from pg_type as t
      left join pg_range as g on g.rngtypid = t.oid
      cross join lateral (values (t.typelem), (t.typbasetype), (g.rngsubtype)) as e(oid)
    where reached.class = 'pg_type'::regclass and t.oid = reached.oid
    union all
    select 'pg_class'::regclass, t.typrelid, -1
    from pg_type as t
    where reached.class = 'pg_type'::regclass and t.oid = reached.oid
    union all
    select 'pg_ts_dict'::regclass, m.mapdict, 0
    from pg_ts_config_map as m
    where reached.class = 'pg_ts_config'::regclass and m.mapcfg = reached.oid
  ) as n (class, oid, part)
  left join pg_class as c on n.class = 'pg_class'::regclass and c.oid = n.oid
  where n.class in ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass,
                    'pg_ts_config'::regclass, 'pg_ts_dict'::regclass)
    and n.oid >= 16384 and (n.class, n.oid) <> (reached.class, reached.oid)
), objects (class, oid, parts) as (
  select r.class, r.oid, array_agg(r.part order by r.part) from reached as r group by r.class, r.oid
), origins (class, oid, origin) as (
  select r.class, r.oid, {row_origin} from objects as r
), relations as (
  select c.oid, c.relkind, c.reloptions, c.relrowsecurity, c.relforcerowsecurity,
         array_agg(r.part::integer) as parts, c.oid::regclass::text as name
  from reached as r join pg_class as c on c.oid = r.oid
  where r.class = 'pg_class'::regclass and c.relkind <> 'S'
  group by c.oid, c.relkind, c.reloptions, c.relrowsecurity, c.relforcerowsecurity -- catalogs have primary keys since 14
), described (name, before, text, after, oid, relkind) as (
  select case r.relkind when 'v' then 'view ' when 'm' then 'materialized view ' when 'c' then 'type ' when 'f' then 'foreign table '
         else 'table ' end || r.name,
         -- a table's options are about storage
         concat_ws(' ', case when r.relkind = 'v' then r.reloptions end, r.relrowsecurity, r.relforcerowsecurity),
         case when r.relkind in ('v', 'm') then pg_get_viewdef(r.oid) end,
         nullif(concat_ws(' ',
                   (select string_agg(concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
                                                a.attcollation::regcollation,
                                                case when a.attgenerated::text <> '' then pg_get_expr(f.adbin, f.adrelid) end),
                                      ', ' order by a.attnum)
                    from pg_attribute as a
                      left join pg_attrdef as f on f.adrelid = a.attrelid and f.adnum = a.attnum
                    where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
                      and (r.relkind in ('v', 'm') or -1 = any(r.parts) or a.attnum = any(r.parts))),
                   (select string_agg(concat_ws(' ', p.polname, p.polcmd, p.polpermissive, p.polroles,
                                                pg_get_expr(p.polqual, p.polrelid)), ', ' order by p.polname)
                    from pg_policy as p
                    where p.polrelid = r.oid)), ''),
         r.oid, r.relkind
  from relations as r
), parts (name, state, class, oid) as (
  select d.name, concat_ws(' ', d.before, d.text, d.after), 'pg_class'::regclass, d.oid from described as d
  union all
  select 'type ' || format_type(t.oid, null),
         concat_ws(' ', t.typtype, format_type(t.typbasetype, t.typtypmod), format_type(g.rngsubtype, null),
                   (select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder)
                    from pg_enum as e where e.enumtypid = t.oid)),
         'pg_type'::regclass, t.oid
  from reached as r
    join pg_type as t on t.oid = r.oid
    left join pg_range as g on g.rngtypid = t.oid
  where r.class = 'pg_type'::regclass and t.typrelid = 0 and t.typelem = 0
  union all
  select 'function ' || p.oid::regprocedure::text,
         case when p.prokind = 'a' then to_jsonb(a)::text else pg_get_functiondef(p.oid) end,
         'pg_proc'::regclass, p.oid
  from reached as r
    join pg_proc as p on p.oid = r.oid
    left join pg_aggregate as a on a.aggfnoid = p.oid
  where r.class = 'pg_proc'::regclass
  union all
  select 'operator ' || o.oid::regoperator::text, o.oprcode::regprocedure::text, 'pg_operator'::regclass, o.oid
  from reached as r join pg_operator as o on o.oid = r.oid
  where r.class = 'pg_operator'::regclass
  union all
  select 'text search configuration ' || c.oid::regconfig::text,
         concat_ws(' ', c.cfgparser, (select string_agg(concat_ws(' ', m.maptokentype, m.mapseqno, m.mapdict::regdictionary), ', '
                                                        order by m.maptokentype, m.mapseqno)
                                      from pg_ts_config_map as m where m.mapcfg = c.oid)),
         'pg_ts_config'::regclass, c.oid
  from reached as r join pg_ts_config as c on c.oid = r.oid
  where r.class = 'pg_ts_config'::regclass
  union all
  select 'text search dictionary ' || d.oid::regdictionary::text, concat_ws(' ', d.dicttemplate, d.dictinitoption),
         'pg_ts_dict'::regclass, d.oid
  from reached as r join pg_ts_dict as d on d.oid = r.oid
  where r.class = 'pg_ts_dict'::regclass
  union all
  -- An enum that gets labels changes no document, unless the view lists them.
  select 'labels of type ' || format_type(t.oid, null),
         (select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder) from pg_enum as e where e.enumtypid = t.oid),
         'pg_type'::regclass, t.oid
  from reached as r join pg_type as t on t.oid = r.oid and t.typtype = 'e'
  where r.class = 'pg_type'::regclass
    and exists (select from objects as v join pg_rewrite as w on w.ev_class = v.oid and w.ev_type = '1'
                where v.class = 'pg_class'::regclass
                  and w.ev_action::text ~ (select ':funcid (' || string_agg(p.oid::text, '|') || ') ' from pg_proc as p
                                           where p.pronamespace = 'pg_catalog'::regnamespace
                                             and p.proname in ('enum_range', 'enum_first', 'enum_last')))
  union all
  select 'setting ' || settings.name, settings.value, null, null from {settings}
  union all
  -- Tracks need not lead to a partition of nulls, nor to its rows, while there can be none.
  select 'not null of column ' || quote_ident(a.attname) || ' of table ' || r.oid::regclass::text, 'not null', null, null
  from objects as r
    join pg_class as c on c.oid = r.oid and c.relkind in ('r', 'p')
    join pg_attribute as a on a.attrelid = r.oid and a.attnum > 0 and a.attnotnull and not a.attisdropped
                              and (a.attnum = any(r.parts) or -1 = any(r.parts))
  where r.class = 'pg_class'::regclass
    and exists (select from objects as v join pg_rewrite as w on w.ev_class = v.oid and w.ev_type = '1'
                where v.class = 'pg_class'::regclass
                  and w.ev_action::text ~ ':(hasWindowFuncs|hasDistinctOn) true|:limit(Count|Offset) [^<]')
    and not exists (select from pg_constraint as n
                    where n.conrelid = r.oid and n.contype = 'n' and a.attnum = any(n.conkey) and not n.convalidated)
  union all
  select 'database', concat_ws('/', d.oid, n.oid, c.oid), null, null
  from pg_database as d
    left join pg_namespace as n on n.oid = to_regnamespace({schema_text})
    left join pg_class as c on c.relnamespace = n.oid and c.relname = 'checkpoint'
  where d.datname = current_database()
)
select jsonb_build_object(
  'parts', (select coalesce(jsonb_object_agg(p.name, concat_ws(' ', md5(p.state), md5(o.origin))) filter (where p.state is not null),
                            jsonb_build_object())
            from parts as p left join origins as o on o.class = p.class and o.oid = p.oid),
  'rows', (select jsonb_agg(jsonb_build_array(o.class::bigint, o.oid::bigint, o.parts::text) order by o.class, o.oid) from objects as o),
  'views', (select coalesce(jsonb_object_agg(d.name, jsonb_build_array(d.before, d.text, d.after)), jsonb_build_object())
            from described as d where d.relkind = 'v'),
  'labels', (select coalesce(jsonb_object_agg('type ' || format_type(t.oid, null), e.labels), jsonb_build_object())
             from reached as r
               join pg_type as t on t.oid = r.oid
               cross join lateral (
                 select jsonb_agg(jsonb_build_array(l.enumlabel, l.oid || ' ' || l.xmin) order by l.enumsortorder) as labels
                 from pg_enum as l where l.enumtypid = t.oid) as e
             where r.class = 'pg_type'::regclass and e.labels is not null),
  'version', current_setting('server_version_num')::integer / 10000,
  'origin', {origin})::text

-- name: origin
-- One checksum of row_origin.sql over all parts of a view, and of the settings of the database. An expression.
--   {view}    oid of the view, or null
--   {rows}    what of (class, oid, parts): a table, or a subselect
--   {origin}  row_origin.sql
--   {settings}  settings_of_database.sql
(select md5(concat_ws(' ', {view}, (select string_agg(concat(name, '=', value), ' ' order by name) from {settings}), string_agg(concat_ws(' ', r.oid, r.parts, {origin}), ', ' order by r.class, r.oid)))
 from {rows} as r (class, oid, parts))

-- name: row_origin
-- What the rows of the catalogue behind r, a row of "objects" (view_parts), came from: which transactions have written
-- them. These never come again, as a definition does that was replaced and put back. Null: there are no such rows.
-- A table's own row in pg_class is left out, since a grant or a truncate writes it. A dropped column leaves its row: so a column
-- that came and went below a whole row is seen.
case r.class
when 'pg_class'::regclass then (
  select nullif(concat_ws(' ', case when c.relkind = 'v' then concat_ws(' ', c.relowner, c.reloptions) end,
                   case when c.relrowsecurity then concat('secured ', c.relforcerowsecurity) end,
                   (select string_agg(w.oid || ' ' || w.xmin, ', ' order by w.oid)
                    from pg_rewrite as w where w.ev_class = c.oid and w.ev_type = '1'),
                   (select string_agg(p.oid || ' ' || p.xmin, ', ' order by p.oid)
                    from pg_policy as p where p.polrelid = c.oid),
                   (select string_agg(concat_ws(' ', a.attnum, a.xmin, case when a.attgenerated::text <> '' then (
                             select f.xmin from pg_attrdef as f where f.adrelid = a.attrelid and f.adnum = a.attnum) end), ', '
                           order by a.attnum)
                    from pg_attribute as a
                    where a.attrelid = c.oid and a.attnum > 0
                      and (a.attnum = any(r.parts) or -1 = any(r.parts) or c.relkind in ('v', 'm')))), '')
  from pg_class as c
  where c.oid = r.oid)
when 'pg_type'::regclass then (
  select concat_ws(' ', t.xmin, (select g.xmin from pg_range as g where g.rngtypid = t.oid),
                   (select string_agg(e.oid || ' ' || e.xmin, ', ' order by e.oid) from pg_enum as e where e.enumtypid = t.oid))
  from pg_type as t
  where t.oid = r.oid)
when 'pg_proc'::regclass then (
  select concat_ws(' ', p.xmin, (select a.xmin from pg_aggregate as a where a.aggfnoid = p.oid))
  from pg_proc as p
  where p.oid = r.oid)
when 'pg_ts_config'::regclass then (
  select concat_ws(' ', c.xmin, (select string_agg(m.maptokentype || ' ' || m.xmin, ', ' order by m.maptokentype, m.mapseqno)
                                 from pg_ts_config_map as m where m.mapcfg = c.oid))
  from pg_ts_config as c
  where c.oid = r.oid)
when 'pg_ts_dict'::regclass then (select d.xmin::text from pg_ts_dict as d where d.oid = r.oid)
else (select o.xmin::text from pg_operator as o where o.oid = r.oid)
end

-- name: settings_of_database
-- The settings that a view has as the database has them (value_settings.h), as a new session of this role begins with them:
-- those set for the role or the database, before the server's. A subselect of (name, value).
--   {names}  array of the settings
(select n.name,
        coalesce((select substr(e.entry, strpos(e.entry, '=') + 1)
                  from pg_db_role_setting as r cross join unnest(r.setconfig) as e (entry)
                  where r.setdatabase in (0, (select d.oid from pg_database as d where d.datname = current_database()))
                    and r.setrole in (0, (select u.oid from pg_roles as u where u.rolname = session_user))
                    and lower(split_part(e.entry, '=', 1)) = lower(n.name)
                  order by r.setrole <> 0 desc, r.setdatabase <> 0 desc
                  limit 1),
                 (select s.reset_val from pg_settings as s where s.name = n.name))
 from unnest({names}) as n (name)) as settings (name, value)

-- name: read_definitions
-- The indices of a pipeline with what they were made of when last compared with the catalogue, and whether that is so still: by
-- look-ups in the catalogue alone.
--   $1  the pipeline
-- The hole "origin" is origin.sql, of the definition's parts. An older lockstep has stored no origin, and parts that the
-- leader has found different carry a mark.
select i.id, i.alias, i.view, c.oid, i.definition, i.followed, exists (select from {schema}.reindex as r where r.beside = i.id),
       coalesce(d.stored ->> 'origin' = {origin} and not d.stored ? 'changed', false) as is_same
from {schema}.index as i
  left join (pg_class as c join pg_namespace as n on n.oid = c.relnamespace)
    on n.nspname = (parse_ident(i.view))[1] and c.relname = (parse_ident(i.view))[2]
  cross join lateral (select case when starts_with(i.definition, chr(123)) then i.definition::jsonb end as stored) as d
where i.pipeline = $1
order by i.id

-- name: find_changed_parts
-- The parts of tracked tables that have come, gone or moved and are not followed yet: the tracked table, the function that
-- follows its parts (capture_parts, which names the table; null: there is none), the part's oid, and what has happened.
--   $1  the pipeline
--   $2  name of Lockstep's schema
-- All tables above all parts in one recursion, as tables_above() has them for each, since `wait` asks this each time.
with recursive tracked as (
  -- By the catalog: to_regclass would want the right to use the schema.
  select t.relation, (select c.oid
                      from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
                      where n.nspname = (parse_ident(t.relation))[1] and c.relname = (parse_ident(t.relation))[2]) as oid
  from (select distinct c.relation from {schema}.capture as c where c.pipeline = $1) as t
), members (relation, oid) as (
  select t.relation, i.inhrelid
  from tracked as t join pg_inherits as i on i.inhparent = t.oid
  where (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
  union
  select m.relation, i.inhrelid
  from members as m join pg_inherits as i on i.inhparent = m.oid
  where (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
), above (part, oid, since) as (
  select i.inhrelid, i.inhparent, i.xmin::text
  from (select distinct m.oid from members as m) as m join pg_inherits as i on i.inhrelid = m.oid
  where (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
  union
  select a.part, i.inhparent, i.xmin::text
  from above as a join pg_inherits as i on i.inhrelid = a.oid
  where (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
), memberships as (
  select m.relation, m.oid, a.above
  from members as m
    join (select a.part, array_agg(a.oid || ' ' || a.since order by a.oid, a.since collate "C") as above
          from above as a
          group by a.part) as a on a.part = m.oid
)
select t.relation,
       (select quote_ident(n.nspname) || '.' || quote_ident(p.proname)
        from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
        where n.nspname = $2 and starts_with(p.proname, 'capture_' || $1 || '_') and p.proname like '%\_parts'
          and position('to_regclass(' || quote_literal(t.relation) || ')' in p.prosrc) > 0),
       d.oid,
       case when d.has_left then d.name || ' is no part of ' || t.relation || ' any more'
            when d.name is null then (select quote_ident(n.nspname) || '.' || quote_ident(c.relname)
                                      from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
                                      where c.oid = d.oid) || ' is a new part of ' || t.relation
            else d.name || ', a part of ' || t.relation || ', is below other tables now, or was attached again' end
from tracked as t
  join (select coalesce(m.relation, k.relation) as relation, coalesce(m.oid, k.table_oid) as oid, m.oid is null as has_left, k.name
        from memberships as m
          full join (select p.relation, p.table_oid, p.name, p.above from {schema}.part as p where p.pipeline = $1) as k
            on k.relation = m.relation and k.table_oid = m.oid
        where m.oid is null or k.table_oid is null or k.above <> m.above) as d on d.relation = t.relation
where t.oid is not null
order by 1, 3

-- name: differences_from_applied
-- Differences from the state after the last apply, but for views (read_definitions), and leftovers: whether changes are
-- lost, the name of a warning, and its values.
--   $1  the pipeline
--   $2  name of Lockstep's schema
--   $3  the indices whose view is named as changed
-- The hole "subscribed" is is_subscribed.sql, of w.oid.
with recursive members (relation, oid) as (
  -- By the catalog: to_regclass would want the right to use the schema.
  select t.relation, c.oid
  from (select distinct c.relation from {schema}.capture as c where c.pipeline = $1) as t
    left join (pg_class as c join pg_namespace as n on n.oid = c.relnamespace)
      on n.nspname = (parse_ident(t.relation))[1] and c.relname = (parse_ident(t.relation))[2]
  union
  select m.relation, i.inhrelid
  from members as m join pg_inherits as i on i.inhparent = m.oid
  where (to_jsonb(i) ->> 'inhdetachpending') is distinct from 'true'
), lettered as (
  -- One step in the primary key for each index.
  select min(d.index) as index from {schema}.dead_letter as d
  union
  select (select min(d.index) from {schema}.dead_letter as d where d.index > l.index)
  from lettered as l
  where l.index is not null
), watched as (
  select m.relation, m.oid, quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name,
         (select count(*)
          from pg_trigger as t
            join pg_proc as p on p.oid = t.tgfoid
            join pg_namespace as s on s.oid = p.pronamespace
          where t.tgrelid = m.oid and t.tgenabled = 'A' and s.nspname = $2
            and starts_with(p.proname, 'capture_' || $1 || '_')) as triggers
  from members as m
    left join pg_class as c on c.oid = m.oid
    left join pg_namespace as n on n.oid = c.relnamespace
  where c.relkind is distinct from 'f'
)
select true, case when w.oid is null then 'table_gone_or_renamed' else 'not_followed' end,
       json_build_array(case when w.oid is null then w.relation else w.name end)::text
from watched as w
where w.oid is null or w.triggers < 4
union all
select false, 'fields_missing', json_build_array(i.alias, k.names, i.view)::text
from {schema}.index as i
  join pg_namespace as n on n.nspname = (parse_ident(i.view))[1]
  join pg_class as c on c.relnamespace = n.oid and c.relname = (parse_ident(i.view))[2]
  cross join lateral (
    -- A kept generation continues without what its view got later.
    select string_agg(a.attname, ', ' order by a.attnum) as names
    from pg_attribute as a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and not starts_with(a.attname::text, '_')
      and a.attname <> all (i.fields)
      and not exists (select from {schema}.reindex as r where r.beside = i.id and r.kept_until is not null)) as k
where i.pipeline = $1 and k.names is not null and i.id <> all($3::integer[])
union all
select false, 'part_left', json_build_array(p.name, p.relation)::text
from {schema}.part as p
where p.pipeline = $1 and exists (select from members as m where m.relation = p.relation and m.oid is not null)
  and not exists (select from members as m where m.relation = p.relation and m.oid = p.table_oid)
union all
select false, 'part_moved', json_build_array(p.name, p.relation)::text
from {schema}.part as p
where p.pipeline = $1 and exists (select from members as m where m.relation = p.relation and m.oid = p.table_oid)
  and p.above <> {schema}.tables_above(p.table_oid)
union all
select false, 'row_of_no_index', json_build_array(s.name, coalesce(s.index::text, 'null'))::text
from (
  select 'set_aside', a.index from {schema}.set_aside as a
  union
  select 'dead_letter', l.index from lettered as l where l.index is not null
) as s(name, index)
where not exists (select 1 from {schema}.index as i where i.id = s.index)
union all
select false, 'job_of_no_index', json_build_array(j.id::text, coalesce(j.index::text, 'null'))::text
from {schema}.job as j
where j.pipeline = $1
  and not exists (select 1 from {schema}.index as i where i.id = j.index and i.pipeline = j.pipeline)
union all
select true, 'subscribed', json_build_array(w.name)::text
from watched as w
where {subscribed}
union all
select false, 'settings_differ', json_build_array(s.name, s.value, current_setting(s.name))::text
from (select distinct split_part(c.setting, '=', 1), substr(c.setting, strpos(c.setting, '=') + 1)
      from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
        cross join unnest(p.proconfig) as c(setting)
      where n.nspname = $2 and starts_with(p.proname, 'capture_' || $1 || '_')) as s(name, value)
where s.name not in ('search_path', 'lock_timeout') and s.value <> current_setting(s.name)

-- name: check_functions
-- The functions that report whether the triggers of a pipeline's tables still fit them (capture_check), and whether the
-- current user may call them.
--   $1  the pipeline
--   $2  name of Lockstep's schema
select quote_ident(n.nspname) || '.' || quote_ident(p.proname) || '()', has_function_privilege(p.oid, 'execute')
from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
where n.nspname = $2 and starts_with(p.proname, 'capture_' || $1::integer || '_') and p.proname like '%\_check'
order by 1

-- name: is_subscribed
-- Whether a subscription fills a table, by itself or as a partition of one that it names: its changes fire no statement
-- trigger. An expression for other statements.
--   {table}  the table's oid
exists (select from pg_subscription_rel as s
        where s.srrelid = {table} or s.srrelid in (select p.relid from pg_partition_ancestors({table}) as p(relid)))
