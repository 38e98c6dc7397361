-- A second generation of an index, defined as the one that the alias stands for, which nobody follows yet.
--   {live}                     the one that there is
--   {beside}, {beside_name}    the other one
update {schema}_counter set "index" = {beside};
insert into {schema}_index (id, pipeline, alias, view, id_type, routed, fields, json_fields, definition, configured, followed)
select {beside}, pipeline, {beside_name}, view, id_type, routed, fields, json_fields, definition, configured, 0
from {schema}_index where id = {live};
insert into {schema}_track (index_id, capture, resolver)
select {beside}, capture, resolver from {schema}_track where index_id = {live} order by id;
