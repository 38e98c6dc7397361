-- Takes a reindex from one state to the next (migration 0014), unless an `apply` is under way: that reads the generations more
-- than once, and would drop one that came between. Its lock: define/definition.cc.
--   $1 to $10  what advance_reindex() takes
--   $11        lockstep's schema
select case
  when pg_try_advisory_xact_lock_shared(hashtextextended('lockstep apply ' || $11, 0))
    then {schema}.advance_reindex($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  else 'applying'
end
