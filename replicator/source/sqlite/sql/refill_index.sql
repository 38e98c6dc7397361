-- A backfill of an index that nobody has begun.
delete from {schema}_job where index_id = {id} and kind = 'backfill' and position is null;
update {schema}_counter set job = job + 1;
insert into {schema}_job (id, pipeline, index_id, kind, reason)
select job, {pipeline}, {id}, 'backfill', {reason} from {schema}_counter;
