-- One checksum of what row_origin.sql says of all that a view is made of, and of the settings of the database. An expression.
--   {view}    oid of the view, or null
--   {rows}    what of (class, oid, parts): a table, or a subselect
--   {origin}  row_origin.sql
--   {settings}  settings_of_database.sql
(select md5(concat_ws(' ', {view}, (select string_agg(concat(name, '=', value), ' ' order by name) from {settings}), string_agg(concat_ws(' ', r.oid, r.parts, {origin}), ', ' order by r.class, r.oid)))
 from {rows} as r (class, oid, parts))
