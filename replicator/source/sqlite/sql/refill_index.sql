-- Lets an index be filled again, and makes whoever runs the pipeline notice. A backfill that nobody has begun would do the same
-- work; but who is about to begin it may have read a page already.
delete from {schema}_job where index_id = {id} and kind = 'backfill' and position is null;
update {schema}_counter set job = job + 1;
insert into {schema}_job (id, pipeline, index_id, kind, reason)
select job, {pipeline}, {id}, 'backfill', {reason} from {schema}_counter;
update {schema}_pipeline set revision = revision + 1 where id = {pipeline};
