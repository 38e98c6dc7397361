-- Makes a pipeline, with a checkpoint at the snapshot of this transaction.
--   {pipeline}, {name}  its id, and its name as a literal
insert into {schema}.pipeline (id, name) overriding system value values ({pipeline}, {name});
insert into {schema}.checkpoint (pipeline, prev) values ({pipeline}, pg_current_snapshot());
