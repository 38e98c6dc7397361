-- Gives a reindex that was started just now the generation beside: an index that nobody follows yet. Its definition is the text $3;
-- `apply` makes the rest of it what that says. No real index has a name with a blank.
--   $1  the pipeline
--   $2  the alias
--   $3  what the configuration file says of it
with made as (
  insert into {schema}.index (pipeline, alias, view, id_type, routed, fields, definition, view_text, configured, followed)
  select i.pipeline, i.alias || ' (next)', i.view, i.id_type, i.routed, i.fields, '', i.view_text, $3, false
  from {schema}.index as i
  where i.pipeline = $1 and i.alias = $2
  returning id
)
update {schema}.reindex as r
set beside = m.id
from made as m
where r.pipeline = $1 and r.alias = $2
