-- Gives a reindex that was started just now the generation beside: an index that nobody follows yet. Its definition is
-- {configured}; `apply` makes the rest of it what that says. No real index has a name with a blank.
--   {pipeline}, {alias}        whose reindex it is; the alias is a literal, as {configured} is
update {schema}_counter set "index" = "index" + 1;
insert into {schema}_index (id, pipeline, alias, view, id_type, routed, fields, json_fields, definition, configured, followed)
select c."index", i.pipeline, i.alias || ' (next)', i.view, i.id_type, i.routed, i.fields, i.json_fields, json_object(), {configured}, 0
from {schema}_index as i, {schema}_counter as c
where i.pipeline = {pipeline} and i.alias = {alias};
update {schema}_reindex set beside = (select "index" from {schema}_counter) where pipeline = {pipeline} and alias = {alias}
