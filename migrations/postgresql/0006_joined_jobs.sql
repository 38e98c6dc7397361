-- Large changes of the same rows, one soon after the other, are replayed together: those that come before the documents of a job
-- are looked for join it, and those that come later wait in a job behind it.
alter table {schema}.job
  add column behind bigint,                      -- the job that has to be over first, unless it is over already
  add column joined integer not null default 0;  -- batches of changes that came to this job after it was made
