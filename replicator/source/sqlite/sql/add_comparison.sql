-- Jobs after which the documents of an index are what its view gives, unless nobody has begun such ones.
{#jobs}
update {schema}_counter set job = job + 1;
insert into {schema}_job (id, pipeline, index_id, kind, reason)
select c.job, {pipeline}, {id}, {kind}, {reason} from {schema}_counter as c
where not exists (select 1 from {schema}_job where index_id = {id} and kind = {kind} and position is null);
{/jobs}
