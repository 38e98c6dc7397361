-- Two generations of an index are followed side by side: the one that the alias stands for, and one beside it. Each is an index of
-- the pipeline with its own jobs, dead letters and routings. The one beside has its real index's name in the column alias.
alter table {schema}_index
  add column written_by text;        -- an alias of this generation alone; null: there is no other, and the searchers' alias will do

alter table {schema}_counter
  add column reindex integer not null default 0;

-- Indices that get a second generation. A reindex: one at a time for an alias. Whoever leads the pipeline takes it from state to
-- state.
create table {schema}_reindex (
  id          integer primary key,     -- never given twice: see {schema}_counter
  pipeline    integer not null,
  alias       text not null,
  state       text not null default 'creating',  -- creating, filling, comparing, swapping, kept, dropping, failed
  mapping     text not null,           -- what the mapping file of the new index says
  keep        integer not null,        -- how long the other generation is followed after each swap, in seconds
  kept_until  integer,                 -- in seconds since 1970; null: the alias was not moved yet
  wanted      text not null default '',          -- by a person: back, finish, abort; empty: nothing
  forced      integer not null default 0,
  reason      text not null default '',          -- why it waits
  failure     text not null default '',          -- why it is taken back
  live        integer,                 -- the index that the alias stands for; in the state swapping, still
  beside      integer,                 -- the other one; null: not made yet, or dropped
  live_name   text not null default '',          -- their real indices
  beside_name text not null default '',
  unique (pipeline, alias)
);
