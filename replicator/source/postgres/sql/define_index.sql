-- Makes an index, or brings it in line, with the jobs that make its documents what the view gives.
--   {id}, {pipeline}  ids; the other values are literals, {fields} and {view_oid} what their columns need
--   added, changed    one of the two, once
--   tracks            once for each: {capture}, {resolver} (null: the values are the _ids)
--   jobs              once for each: {kind}, {total} documents or null, {reason}; a job of the kind that nobody has begun
--                     would do the same work
{#added}
insert into {schema}.index (id, pipeline, alias, view, id_type, routed, fields, definition, view_text, configured)
overriding system value
values ({id}, {pipeline}, {alias}, {view}, {id_type}, {routed}, {fields}, {definition},
        md5(pg_get_viewdef({view_oid}::oid)), {configured});
{/added}
{#changed}
update {schema}.index
set view = {view}, id_type = {id_type}, routed = {routed}, fields = {fields}, definition = {definition},
    view_text = md5(pg_get_viewdef({view_oid}::oid)), configured = {configured}
where id = {id};
delete from {schema}.set_aside where index = {id};
delete from {schema}.track where index = {id};
{/changed}
{#tracks}
insert into {schema}.track (index, capture, resolver) values ({id}, {capture}, {resolver});
{/tracks}
{#jobs}
delete from {schema}.job where index = {id} and kind = {kind} and position is null;
insert into {schema}.job (pipeline, index, kind, total, reason) values ({pipeline}, {id}, {kind}, {total}, {reason});
{/jobs}
