-- Makes an index, or brings it in line, with the jobs that make its documents what the view gives.
--   {id}, {pipeline}  ids; the other values are literals
--   added, changed    one of the two, once
--   tracks            once for each: {capture}, {resolver} (null: the values are the _ids)
--   jobs              once for each: {kind}, {total} documents or null, {reason}; a job of the kind that nobody has begun
--                     would do the same work
{#added}
update {schema}_counter set "index" = {id};
insert into {schema}_index (id, pipeline, alias, view, id_type, routed, fields, json_fields, definition, configured)
values ({id}, {pipeline}, {alias}, {view}, {id_type}, {routed}, {fields}, {json_fields}, {definition}, {configured});
{/added}
{#changed}
update {schema}_index
set view = {view}, id_type = {id_type}, routed = {routed}, fields = {fields}, json_fields = {json_fields},
    definition = {definition}, configured = {configured}
where id = {id};
delete from {schema}_set_aside where index_id = {id};
delete from {schema}_track where index_id = {id};
{/changed}
{#tracks}
insert into {schema}_track (index_id, capture, resolver) values ({id}, {capture}, {resolver});
{/tracks}
{#jobs}
delete from {schema}_job where index_id = {id} and kind = {kind} and position is null;
update {schema}_counter set job = job + 1;
insert into {schema}_job (id, pipeline, index_id, kind, total, reason)
select job, {pipeline}, {id}, {kind}, {total}, {reason} from {schema}_counter;
{/jobs}
