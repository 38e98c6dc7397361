-- The number of the advisory lock that the leader holds, when it is not the one that follows from the pipeline's identity: anybody
-- who may connect can take an advisory lock. When somebody does who may not write the checkpoint, whoever leads next takes another
-- number, by chance; only those who may read this table know it before it is taken.
alter table {schema}.checkpoint add column lead_key bigint;  -- null: the number that follows from pipeline.identity
