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
