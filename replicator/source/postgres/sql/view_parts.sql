-- A query of what the documents of a view are made of, besides rows: "parts", names and checksums, "rows", where they are in the
-- catalogue, "origin", origin.sql of these, "views", what their checksums are of, as this "version" of the server prints them, and
-- "labels" of enums, in order, each with where its row came from. Whatever makes them other documents without firing a trigger must change a checksum.
--   {view}         oid of the view
--   {schema_text}  lockstep's schema, as a literal
--   {whole_rows}   array of the quoted names of the tables that it takes as whole rows, of which pg_depend does not tell
--   {row_origin}   row_origin.sql
--   {origin}       origin.sql of "objects"
--   {settings}     settings_of_database.sql
-- reached: objects, followed through pg_depend, and of tables the columns; 0: none in particular, -1: each.
-- A second checksum follows that of a part's definition: where its rows came from, since what was replaced may be put back, and
-- `alter column ... using` can keep the type. It means something in this "database" alone, and nothing in one restored from a dump.
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
