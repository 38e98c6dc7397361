-- name: publish_status
-- Writes the leader's report about itself.
--   $1  the pipeline
--   $2, $3  state and reason
--   $4, $5, $6  host, process and when it started
--   $7  counters, as JSON
insert into {schema}.pipeline_status (pipeline, state, reason, host, pid, started_at, document)
values ($1, $2, $3, $4, $5, $6, $7::jsonb)
on conflict (pipeline) do update
set state = excluded.state, reason = excluded.reason, host = excluded.host, pid = excluded.pid,
    started_at = excluded.started_at, document = excluded.document, beat_at = clock_timestamp()

-- name: read_status
-- The status of a pipeline, as one JSON object and from one snapshot; durations in seconds.
--   pending_rows  pending_rows.sql
--   $1  the pipeline's name
--   $2  the most rows to count as pending
select json_build_object(
  'identity', p.identity,
  'checkpoint', to_jsonb(c),
  'checkpoint_age', extract(epoch from clock_timestamp() - c.written_at),
  'pending_rows', pending.rows,
  'outbox_bytes', ({outbox_size}),
  'max_outbox_bytes', p.max_outbox_size,
  'takes_no_writes', current_setting('default_transaction_read_only')::boolean,
  'given_up', (select q.last_value in (2, 3) from {schema}.capture_state as q),
  'pending_age', coalesce(extract(epoch from clock_timestamp() - first.oldest), 0),
  'leader', (
    select json_build_object(
      'state', s.state, 'reason', s.reason, 'host', s.host, 'pid', s.pid, 'started_at', s.started_at,
      'beat_at', s.beat_at, 'age', extract(epoch from clock_timestamp() - s.beat_at), 'document', s.document)
    from {schema}.pipeline_status as s
    where s.pipeline = p.id
  ),
  'reindexes', (
    select coalesce(json_agg(json_build_object(
      'alias', r.alias, 'state', r.state, 'live', r.live_name, 'beside', r.beside_name, 'wanted', coalesce(r.wanted, ''),
      'reason', r.reason, 'failure', r.failure, 'max_rate', r.max_rate,
      'keep', greatest(coalesce(extract(epoch from r.kept_until - clock_timestamp()), 0), 0)) order by r.id), '[]')
    from {schema}.reindex as r
    where r.pipeline = p.id
  ),
  'indices', (
    select coalesce(json_agg(json_build_object(
      'id', i.id, 'alias', i.alias, 'view', i.view,
      'set_aside', (
        select coalesce(nullif(a.reason, ''), 'no reason is stored')
        from {schema}.set_aside as a
        where a.index = i.id
      ),
      'refused', (
        select coalesce(json_agg(json_build_object('error', k.error_type, 'documents', k.documents)
                                 order by k.documents desc, k.error_type), '[]')
        from (
          select d.error_type, count(*) as documents
          from {schema}.dead_letter as d
          where d.index = i.id
          group by d.error_type
        ) as k
      ),
      'jobs', (
        select coalesce(json_agg(json_build_object(
          'id', j.id, 'kind', j.kind, 'position', j.position, 'reason', j.reason,
          'done', j.done, 'total', j.total, 'created_at', j.created_at) order by j.id), '[]')
        from {schema}.job as j
        where j.index = i.id
      ),
      'due', (
        select json_build_object(
          'documents', coalesce(sum(d.documents), 0), 'changes', count(*) filter (where d.ids is null),
          'age', extract(epoch from clock_timestamp() - min(d.due_at)),
          'reason', (array_agg(d.reason order by d.due_at, d.number))[1])
        from {schema}.due as d
        where d.index = i.id and d.due_at <= clock_timestamp()
        having count(*) > 0
      )) order by i.id), '[]')
    from {schema}.index as i
    where i.pipeline = p.id and i.followed
  )
)
from {schema}.pipeline as p
  join {schema}.checkpoint as c on c.pipeline = p.id
  cross join lateral (
    select count(*) as rows
    from (
      select
      {pending_rows}
      limit $2
    ) as o
  ) as pending
  cross join lateral ( -- in order, since the leaves are read in none; a constant limit, so that no plan sorts them
    select min(o.at) as oldest
    from (
      select b.at
      {pending_rows}
      order by b.txid, b.id
      limit 1000
    ) as o
  ) as first
where p.name = $1

-- name: lock_waits
-- The locks that sessions of the leader wait for, and the holders of each. A session that waits for the same lock before us
-- counts, too.
--   $1  what the leader's own session calls itself; the server cuts that off
select distinct case w.application_name
         when $1::name::text then 'loop'
         when ($1 || ', pages of jobs')::name::text then 'pages'
         when ($1 || ', large changes')::name::text then 'lists'
         else 'loop' end,
       coalesce(l.relation::regclass::text, ''), b.pid, coalesce(quote_ident(u.rolname), ''), coalesce(h.application_name, '')
from pg_stat_activity as w
  cross join lateral unnest(pg_blocking_pids(w.pid)) as b(pid)
  left join pg_locks as l on l.pid = w.pid and not l.granted
  left join pg_stat_activity as h on h.pid = b.pid
  left join pg_roles as u on u.oid = h.usesysid
where w.datname = current_database() and w.usename = current_user and w.wait_event_type = 'Lock'
  and w.application_name in ($1::name::text, ($1 || ', pages of jobs')::name::text, ($1 || ', large changes')::name::text,
                             current_setting('application_name'))
order by 1, 2, 3

-- name: standbys
-- The sessions that would lead a pipeline: each asks again and again for the lock of the lead. Only those whose role is ours, or
-- that our role may see.
--   $1  what such a session calls itself; the server cuts that off
--   $2  process of the session that leads, 0: none
select coalesce(host(a.client_addr), ''), to_char(a.backend_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
from pg_stat_activity as a
where a.datname = current_database() and a.application_name = $1::name::text and a.pid <> $2
order by a.backend_start, a.pid
