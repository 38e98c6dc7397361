-- Two generations of an index are followed side by side: the one that the alias stands for, and one beside it. Each is an index of
-- the pipeline with its own jobs, dead letters and routings. The one beside has its real index's name in the column alias.
alter table {schema}.index
  add column written_by text;        -- an alias of this generation alone; null: there is no other, and the searchers' alias will do
comment on column {schema}.index.written_by is 'the alias for writing while there are two generations';

-- A reindex: one at a time for an alias. Whoever leads the pipeline takes it from state to state.
create table {schema}.reindex (
  id          bigint generated always as identity primary key,
  pipeline    integer not null references {schema}.pipeline on delete cascade,
  alias       text not null,
  state       text not null default 'creating'
              check (state in ('creating', 'filling', 'comparing', 'swapping', 'kept', 'dropping', 'failed')),
  mapping     text not null,         -- what the mapping file of the new index says
  keep        interval not null,     -- how long the other generation is followed after each swap
  kept_until  timestamptz,           -- null: the alias was not moved yet
  wanted      text check (wanted in ('back', 'finish', 'abort')),  -- by a person; null: nothing
  forced      boolean not null default false,
  reason      text not null default '',  -- why it waits
  failure     text not null default '',  -- why it is taken back
  live        integer references {schema}.index on delete cascade,   -- the alias stands for it; in the state swapping, still
  beside      integer references {schema}.index on delete set null,  -- the other one; null: not made yet, or dropped
  live_name   text not null default '',  -- their real indices
  beside_name text not null default '',
  started_at  timestamptz not null default clock_timestamp(),
  changed_at  timestamptz not null default clock_timestamp(),
  unique (pipeline, alias)
);
comment on table {schema}.reindex is 'indices that get a second generation';

-- For the leader of this epoch: takes a reindex from one state to the next, with all that belongs to it. The next state may
-- also be done: nothing is left of it then. Returns what came of it: advanced, deposed (another process leads), or changed (it is
-- not in that state, or is gone).
--   live_index, beside_index  the real indices, by what aliases they are written, and how many documents there are about, for
--                             the state filling
--   why                       a failure, for the state dropping
create function {schema}.advance_reindex(reindex_id bigint, leader_epoch bigint, known_state text, next_state text,
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
    insert into {schema}.index (pipeline, alias, written_by, view, id_type, routed, fields, definition, view_text)
    select i.pipeline, beside_index, beside_written_by, i.view, i.id_type, i.routed, i.fields, i.definition, i.view_text
    from {schema}.index as i
    where i.id = known.live
    returning id into strict added;
    insert into {schema}.track (index, capture, resolver)
    select added, t.capture, t.resolver from {schema}.track as t where t.index = known.live order by t.id;
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
