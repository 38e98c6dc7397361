-- name: start_reindex
-- Starts a reindex of an alias, unless the pipeline has no such index. It takes the number that the counter has.
--   ?1  the pipeline
--   ?2  the alias
--   ?3  the mapping file of the new index
--   ?4  how long the other generation is followed after each swap, in seconds
--   ?5  how many documents a second are written or compared at most; null: no limit
insert into {schema}_reindex (id, pipeline, alias, mapping, keep, live, max_rate)
select c.reindex, i.pipeline, i.alias, ?3, ?4, i.id, ?5
from {schema}_index as i, {schema}_counter as c
where i.pipeline = ?1 and i.alias = ?2

-- name: copy_generation
-- A second generation of an index, defined as the one to which the alias points, and not followed yet.
--   {live}                     the one that there is
--   {beside}, {beside_name}    the other one
update {schema}_counter set "index" = {beside};
insert into {schema}_index (id, pipeline, alias, view, id_type, routed, fields, json_fields, definition, configured, followed)
select {beside}, pipeline, {beside_name}, view, id_type, routed, fields, json_fields, definition, configured, 0
from {schema}_index where id = {live};
insert into {schema}_track (index_id, capture, resolver)
select {beside}, capture, resolver from {schema}_track where index_id = {live} order by id;

-- name: fill_generation
-- A second generation of an index, next to the one to which the alias points: it follows changes from now on, and is filled.
--   {live}, {live_written_by}                    the one that there is
--   {beside}, {beside_name}, {beside_written_by} the other one, which is defined
--   {reindex}, {live_name}, {documents}          about
update {schema}_counter set job = job + 1;
update {schema}_index set written_by = {live_written_by} where id = {live};
update {schema}_index set alias = {beside_name}, written_by = {beside_written_by}, followed = 1 where id = {beside};
insert into {schema}_job (id, pipeline, index_id, kind, total, reason)
select c.job, r.pipeline, {beside}, 'backfill', {documents}, 'reindex of ' || r.alias
from {schema}_counter as c, {schema}_reindex as r where r.id = {reindex};
update {schema}_reindex set beside = {beside}, live_name = {live_name}, beside_name = {beside_name} where id = {reindex};

-- name: swap_generations
-- The alias points to the other generation, so both exchange their names.
--   {reindex}, {live}, {beside}  ids, as of before
update {schema}_index set alias = (select live_name from {schema}_reindex where id = {reindex}) where id = {live};
update {schema}_index set alias = (select alias from {schema}_reindex where id = {reindex}) where id = {beside};
update {schema}_reindex
set live = {beside}, beside = {live}, live_name = beside_name, beside_name = live_name, forced = 0,
    kept_until = cast(strftime('%s', 'now') as integer) + keep,
    wanted = case when wanted = 'abort' then '' else wanted end
where id = {reindex};

-- name: add_comparison
-- Jobs after which the documents of an index are what its view gives, unless such ones exist that have not begun.
{#jobs}
update {schema}_counter set job = job + 1;
insert into {schema}_job (id, pipeline, index_id, kind, reason)
select c.job, {pipeline}, {id}, {kind}, {reason} from {schema}_counter as c
where not exists (select 1 from {schema}_job where index_id = {id} and kind = {kind} and position is null);
{/jobs}

-- name: read_reindexes
-- The reindexes of a pipeline, oldest first.
--   ?1  the pipeline
select r.id, r.alias, r.state, r.mapping, r.live, r.beside, r.live_name, r.beside_name, r.wanted, r.forced,
       r.kept_until is not null, max(coalesce(r.kept_until - cast(strftime('%s', 'now') as integer), 0), 0), r.reason,
       r.failure, coalesce(json_extract(b.configured, '$.view'), ''), b.id is not null and b.configured is not l.configured,
       r.max_rate
from {schema}_reindex as r
  left join {schema}_index as l on l.id = r.live
  left join {schema}_index as b on b.id = r.beside
where r.pipeline = ?1
order by r.id

-- name: note_pace
-- Notes how fast the last job of a kind over a whole index was, unless the index is gone.
--   ?1  the index
--   ?2  the kind of job
--   ?3  how many documents
--   ?4  in how many milliseconds
insert or replace into {schema}_pace (index_id, kind, documents, milliseconds)
select i.id, ?2, ?3, ?4
from {schema}_index as i
where i.id = ?1
