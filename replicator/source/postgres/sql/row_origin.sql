-- What the rows of the catalogue behind r, a row of "objects" (view_parts.sql), came from: which transactions have written
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
