-- What the leader says of itself.
insert into {schema}.pipeline_status (pipeline, state, reason, host, pid, started_at, document)
values ($1, $2, $3, $4, $5, $6, $7::jsonb)
on conflict (pipeline) do update
set state = excluded.state, reason = excluded.reason, host = excluded.host, pid = excluded.pid,
    started_at = excluded.started_at, document = excluded.document, beat_at = clock_timestamp()
