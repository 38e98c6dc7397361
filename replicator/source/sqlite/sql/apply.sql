-- name: add_pipeline
-- A pipeline whose checkpoint begins here: a backfill, whose snapshots are younger, sees everything before.
update {schema}_counter set pipeline = {pipeline};
insert into {schema}_pipeline (id, name, identity)
values ({pipeline}, {name},
        lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' ||
              substr('89ab', 1 + (abs(random()) % 4), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))));
insert into {schema}_checkpoint (pipeline, last_id) select {pipeline}, coalesce(max(id), 0) from {schema}_outbox

-- name: define_index
-- Makes an index, or brings it in line, with the jobs that make its documents what the view gives.
--   {id}, {pipeline}  ids; the other values are literals
--   added, changed    one of the two, once
--   tracks            once for each: {capture}, {resolver} (null: the values are the _ids)
--   jobs              once for each: {kind}, {total} documents or null, {reason}; a job of the kind that has not begun
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

-- name: define_generation
-- Gives a reindex that was started just now its next generation: an index that is not followed yet. Its definition is
-- {configured}; `apply` makes the rest of it accordingly. No real index has a name with a blank.
--   {pipeline}, {alias}        whose reindex it is; the alias is a literal, as {configured} is
update {schema}_counter set "index" = "index" + 1;
insert into {schema}_index (id, pipeline, alias, view, id_type, routed, fields, json_fields, definition, configured, followed)
select c."index", i.pipeline, i.alias || ' (next)', i.view, i.id_type, i.routed, i.fields, i.json_fields, json_object(), {configured}, 0
from {schema}_index as i, {schema}_counter as c
where i.pipeline = {pipeline} and i.alias = {alias};
update {schema}_reindex set beside = (select "index" from {schema}_counter) where pipeline = {pipeline} and alias = {alias}

-- name: refill_index
-- Lets an index be filled again, and makes the pipeline's leader notice. A backfill that has not begun would do the same
-- work; but a leader about to begin it may have read a page already.
delete from {schema}_job where index_id = {id} and kind = 'backfill' and position is null;
update {schema}_counter set job = job + 1;
insert into {schema}_job (id, pipeline, index_id, kind, reason)
select job, {pipeline}, {id}, 'backfill', {reason} from {schema}_counter;
update {schema}_pipeline set revision = revision + 1 where id = {pipeline};

-- name: note_definition
-- Stores what an index is made of.
--   {definition}  a literal
--   jobs          once for each {kind} of job that makes its documents what the view gives, for the {reason}; not left to one
--                 that waits, whose first page may be read already
update {schema}_index set definition = {definition} where id = {id};
{#jobs}
update {schema}_counter set job = job + 1;
insert into {schema}_job (id, pipeline, index_id, kind, reason)
select job, {pipeline}, {id}, {kind}, {reason} from {schema}_counter;
{/jobs}

-- name: drop_index
-- Everything that lockstep has of an index.
delete from {schema}_due where index_id = {id};
delete from {schema}_job where index_id = {id};
delete from {schema}_track where index_id = {id};
delete from {schema}_set_aside where index_id = {id};
delete from {schema}_route where index_id = {id};
delete from {schema}_dead_letter where index_id = {id};
delete from {schema}_pace where index_id = {id};
delete from {schema}_reindex where live = {id};
update {schema}_reindex set beside = null where beside = {id};
delete from {schema}_index where id = {id}

-- name: drop_pipeline
-- Everything that lockstep has of a pipeline whose triggers are gone. Other pipelines stay.
{#indices}
delete from {schema}_track where index_id = {id};
delete from {schema}_set_aside where index_id = {id};
delete from {schema}_route where index_id = {id};
delete from {schema}_dead_letter where index_id = {id};
delete from {schema}_pace where index_id = {id};
delete from {schema}_due where index_id = {id};
{/indices}
delete from {schema}_job where pipeline = {pipeline};
delete from {schema}_capture where pipeline = {pipeline};
delete from {schema}_index where pipeline = {pipeline};
delete from {schema}_checkpoint where pipeline = {pipeline};
delete from {schema}_reindex where pipeline = {pipeline};
delete from {schema}_mark where pipeline = {pipeline};
delete from {schema}_pipeline where id = {pipeline}
