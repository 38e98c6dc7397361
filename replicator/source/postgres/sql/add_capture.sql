-- Makes a capture.
--   {id}, {pipeline}  ids; the other values are literals, {columns} an array of texts or null
insert into {schema}.capture (id, pipeline, relation, expression, value_type, columns)
overriding system value
values ({id}, {pipeline}, {relation}, {expression}, {value_type}, {columns});
