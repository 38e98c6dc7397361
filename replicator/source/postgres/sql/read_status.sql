-- What `status` tells of a pipeline, as one JSON object and from one snapshot; durations in seconds.
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
