-- Body of the function that the truncate trigger of a tracked table calls: any row may have changed. It writes even when
-- the outbox is full.
--   {schema}  lockstep's schema
--   {values}  (id, null) for each capture
begin
  insert into {schema}.outbox (capture, keys)
  values {values};
  return null;
end
