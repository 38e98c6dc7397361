-- Each generation of an index has a definition of its own: what the configuration file says of its documents. So the old
-- generation keeps its view and its tracks while the configuration describes the new one.
alter table {schema}.index
  add column configured text,                        -- {"view", "json", "tracks"}; null: as the configuration file says it now
  add column followed boolean not null default true; -- false: a reindex is about to begin with it
comment on column {schema}.index.configured is 'its view, JSON columns and tracks, as the configuration file says them';

-- For the leader of this epoch: takes a reindex from one state to the next, with all that belongs to it. The next state may
-- also be done: nothing is left of it then. Returns what came of it: advanced, deposed (another process leads), or changed (it is
-- not in that state, or is gone).
--   live_index, beside_index  the real indices, by what aliases they are written, and how many documents there are about, for
--                             the state filling
--   why                       a failure, for the state dropping
create or replace function {schema}.advance_reindex(reindex_id bigint, leader_epoch bigint, known_state text, next_state text,
                                         live_index text, live_written_by text, beside_index text, beside_written_by text,
                                         documents bigint, why text)
returns text language plpgsql security definer set search_path = pg_catalog, pg_temp as $lockstep$
declare
  known {schema}.reindex;
  added integer;
begin
  select r.* into known from {schema}.reindex as r where r.id = reindex_id for update;
  if not found or known.state <> known_state then
    return 'changed';
  end if;
  perform from {schema}.checkpoint as c where c.pipeline = known.pipeline and c.epoch = leader_epoch for share;
  if not found then
    return 'deposed';
  end if;
  if (known_state, next_state) not in (('creating', 'filling'), ('creating', 'dropping'), ('filling', 'comparing'),
                                       ('filling', 'dropping'), ('comparing', 'swapping'), ('comparing', 'dropping'),
                                       ('swapping', 'kept'), ('swapping', 'dropping'), ('kept', 'swapping'),
                                       ('kept', 'dropping'), ('dropping', 'failed'), ('dropping', 'done'), ('failed', 'done')) then
    raise exception 'a reindex does not go from % to %', known_state, next_state;
  end if;
  if next_state = 'done' then
    delete from {schema}.reindex as r where r.id = reindex_id;
    return 'advanced';
  end if;
  if next_state = 'filling' then
    update {schema}.index as i set written_by = live_written_by where i.id = known.live;
    if known.beside is not null then
      -- Whoever started the reindex has defined it already.
      added := known.beside;
      update {schema}.index as i set alias = beside_index, written_by = beside_written_by, followed = true where i.id = added;
    else
      insert into {schema}.index (pipeline, alias, written_by, view, id_type, routed, fields, definition, view_text, configured)
      select i.pipeline, beside_index, beside_written_by, i.view, i.id_type, i.routed, i.fields, i.definition, i.view_text,
             i.configured
      from {schema}.index as i
      where i.id = known.live
      returning id into strict added;
      insert into {schema}.track (index, capture, resolver)
      select added, t.capture, t.resolver from {schema}.track as t where t.index = known.live order by t.id;
    end if;
    insert into {schema}.job (pipeline, index, kind, total, reason)
    values (known.pipeline, added, 'backfill', documents, 'reindex of ' || known.alias);
    update {schema}.reindex as r
    set beside = added, live_name = live_index, beside_name = beside_index
    where r.id = reindex_id;
  elsif next_state = 'comparing' then
    -- No sweep: what was empty when the changes began to be followed has nothing that the view does not have.
    insert into {schema}.job (pipeline, index, kind, reason)
    values (known.pipeline, known.beside, 'comparison', 'reindex of ' || known.alias);
  elsif next_state = 'swapping' then
    update {schema}.reindex as r set wanted = null where r.id = reindex_id;
  elsif next_state = 'kept' then
    -- The alias stands for the one that was beside, so they exchange their names.
    update {schema}.index as i set alias = known.live_name where i.id = known.live;
    update {schema}.index as i set alias = known.alias where i.id = known.beside;
    update {schema}.reindex as r
    set live = known.beside, beside = known.live, live_name = known.beside_name, beside_name = known.live_name,
        kept_until = clock_timestamp() + known.keep, wanted = nullif(known.wanted, 'abort'), forced = false
    where r.id = reindex_id;
  elsif next_state = 'dropping' then
    delete from {schema}.index as i where i.id = known.beside;
    update {schema}.index as i set written_by = null where i.id = known.live;
    update {schema}.reindex as r set wanted = null, forced = false, failure = why where r.id = reindex_id;
  end if;
  update {schema}.reindex as r set state = next_state, reason = '', changed_at = clock_timestamp() where r.id = reindex_id;
  if next_state in ('filling', 'kept', 'dropping') then
    -- Whoever runs the pipeline loads it again.
    update {schema}.pipeline as p set applied_at = clock_timestamp() where p.id = known.pipeline;
  end if;
  return 'advanced';
end
$lockstep$;
revoke all on function {schema}.advance_reindex(bigint, bigint, text, text, text, text, text, text, bigint, text) from public;
