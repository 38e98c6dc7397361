-- Writes what the leader says of itself.
--   $1  the pipeline
--   $2, $3  state and reason
--   $4, $5, $6  host, process and when it started
--   $7  counters, as JSON
insert into {schema}.pipeline_status (pipeline, state, reason, host, pid, started_at, document)
values ($1, $2, $3, $4, $5, $6, $7::jsonb)
on conflict (pipeline) do update
set state = excluded.state, reason = excluded.reason, host = excluded.host, pid = excluded.pid,
    started_at = excluded.started_at, document = excluded.document, beat_at = clock_timestamp()
