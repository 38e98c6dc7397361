-- name: capture_insert
-- A row that was inserted.
create trigger {name} after insert on {table}{when}
begin
  insert into {schema}_outbox (capture, value) values ({capture}, {new});
{#limited}
  update {schema}_outbox_limit set left_out = 1
  where left_out = 0 and max_rows <= (select max(id) from {schema}_outbox) - (select min(id) from {schema}_outbox);
{/limited}
end

-- name: capture_update
-- A row that was changed. `is not` alone would take the column's collation, and 1 for the same as 1.0.
create trigger {name} after update on {table}{when}
begin
  insert into {schema}_outbox (capture, value) values ({capture}, {old});
  insert into {schema}_outbox (capture, value)
  select {capture}, {new} where {moved};
{#limited}
  update {schema}_outbox_limit set left_out = 1
  where left_out = 0 and max_rows <= (select max(id) from {schema}_outbox) - (select min(id) from {schema}_outbox);
{/limited}
end

-- name: capture_replaced
-- The rows that a `replace` may be about to delete, for which no trigger fires: those that are the same as the new row in a
-- unique index.
create trigger {name} before {event} on {table}{when}
begin
{#indices}
  insert into {schema}_outbox (capture, value)
  select {capture}, {replaced} from {table} where {same};
{/indices}
end

-- name: capture_delete
-- A row that was deleted, but not by a `replace`.
create trigger {name} after delete on {table}{when}
begin
  insert into {schema}_outbox (capture, value) values ({capture}, {old});
{#limited}
  update {schema}_outbox_limit set left_out = 1
  where left_out = 0 and max_rows <= (select max(id) from {schema}_outbox) - (select min(id) from {schema}_outbox);
{/limited}
end

-- name: rows_of_no_index
-- What stands in Lockstep's own tables and belongs to no index: the name of a warning, and its values.
--   ?1  the pipeline
select 'row_of_no_index', json_array(s.name, cast(s.index_id as text))
from (
  select 'set_aside' as name, a.index_id from {schema}_set_aside as a
  union
  select 'dead_letter', d.index_id from {schema}_dead_letter as d
) as s
where not exists (select 1 from {schema}_index as i where i.id = s.index_id)
union all
select 'job_of_no_index', json_array(cast(j.id as text), cast(j.index_id as text))
from {schema}_job as j
where j.pipeline = ?1
  and not exists (select 1 from {schema}_index as i where i.id = j.index_id and i.pipeline = j.pipeline)
