-- Moves a pipeline's checkpoint, unless another epoch has begun.
--   $1  the pipeline, $2 the epoch
--   $3  the snapshot up to which everything is acknowledged
--   $4  the open batch's snapshot; empty: none is open
--   $5, $6  transaction and id of the last row of that batch that is acknowledged
update {schema}.checkpoint
set prev = $3::pg_snapshot, cur = nullif($4::text, '')::pg_snapshot, last_txid = $5::xid8, last_id = $6,
    written_at = clock_timestamp()
where pipeline = $1 and epoch = $2
