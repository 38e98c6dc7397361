-- Lockstep's own tables inside the application's file. `{schema}` is what their names begin with: source.schema. They are
-- read by every SQLite that the application uses, so there is no STRICT, ->>, RETURNING, window function or foreign key
-- here. Rows go where their pipeline or index goes by statements of lockstep's own.
--
-- One pipeline is one configuration file; several may share a file and its outbox. The outbox says which rows changed, the
-- checkpoint up to where Elasticsearch has acknowledged them: both lie in the application's file, because only then do
-- they go back together when the file does.

-- One row: what tells this file from another one, and whether it went back.
create table {schema}_file (
  id    integer primary key check (id = 1),
  token text not null,               -- random, of the first apply
  mark  text not null                -- random, another one when a leader has noticed that the file went back
);

-- One row a configuration file.
create table {schema}_pipeline (
  id         integer primary key,    -- never given twice: see {schema}_counter
  name       text not null unique,
  identity   text not null unique,   -- uuid, carried by every index in its mapping's _meta
  revision   integer not null default 0,   -- one more with every apply that changes anything
  applied_id integer not null default 0    -- newest row of the outbox at the last such apply: later rows of captures that
                                           -- no pipeline has were written by nobody
);

-- What Elasticsearch has acknowledged, a row a pipeline.
create table {schema}_checkpoint (
  pipeline   integer primary key,
  last_id    integer not null default 0,   -- everything in the outbox up to this row
  epoch      integer not null default 0,
  partners   text not null default '{}',   -- what the last leader knew of both sides: {"place", "quiet", "targets"}
  written_at text not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);

-- Which rows changed. Written by the generated triggers in the writer's transaction, never updated. One writer at a time has the
-- file, so the order of id is the order of commits, and a snapshot has no gap: an id is a position. A trigger only appends,
-- since the conflict clause of the application's statement would rule any other insert (a unique index could make that
-- statement fail).
-- Emptied from its beginning up to, and without, the newest row that every pipeline has passed: that one keeps an id from being
-- given twice.
create table {schema}_outbox (
  id      integer primary key,
  capture integer not null,
  -- Of a capture of one column its value, which keeps its type: the column has none. Of several: one text, joined by ',', of
  -- quote(v) for numbers and null, t<hex> for texts and b<hex> for blobs.
  value
);

-- One row: the limit of the outbox. Where max_rows is not null the triggers first set left_out to 1 when the outbox has that many
-- rows, and leave changes out while it is 1; whoever leads then compares everything and sets it to 0.
create table {schema}_outbox_limit (
  id       integer primary key check (id = 1),
  max_rows integer,                  -- null: no limit
  left_out integer not null default 0
);

-- An index of Elasticsearch that follows a view.
create table {schema}_index (
  id          integer primary key,   -- never given twice
  pipeline    integer not null,
  alias       text not null,
  view        text not null,         -- its name, not quoted
  id_type     text not null,         -- of the view's _id: 'integer', 'text', or 'any' where values may have several types
  routed      integer not null,      -- 1: the view has a _routing
  fields      text not null,         -- the document's fields in the view's order, a JSON array
  json_fields text not null,         -- those of them that hold JSON, a JSON array
  definition  text not null,         -- checksums of what the documents are made of, JSON
  unique (pipeline, alias)
);

-- Which columns of a table's rows go into the outbox when they change.
create table {schema}_capture (
  id       integer primary key,      -- never given twice: the outbox may still have rows of one that is gone
  pipeline integer not null,
  relation text not null,            -- the table's name, not quoted
  value    text not null,            -- names of the columns whose values go into the outbox, a JSON array
  query    text,                     -- from ?1, a JSON array of what the outbox has (of several columns arrays), to the
                                     -- capture's values, one a row; null: what the outbox has is the value
  columns  text                      -- an update counts only if one of these changed, a JSON array; null: any that a view reads
);

-- How a capture's values lead to documents.
create table {schema}_track (
  id       integer primary key,
  index_id integer not null,
  capture  integer not null,
  resolver text                      -- query from ?1, a JSON array of values, to _ids; null: the values are the _ids
);

-- Work beside the tail.
create table {schema}_job (
  id         integer primary key,    -- never given twice: see {schema}_counter
  pipeline   integer not null,
  index_id   integer not null,
  kind       text,                   -- backfill, comparison, fan_out, sweep
  position   text,                   -- how far Elasticsearch has acknowledged it; null: nobody has begun
  done       integer not null default 0,
  total      integer,                -- null: the list of the fan-out is not made yet
  reason     text not null default '',     -- in words, for `status`
  behind     integer,                -- the job that has to be over first, unless it is over already
  read_from  integer,                -- the rows of the outbox of which the list is made: behind this one,
  read_to    integer,                -- up to this one; null: none, or none any more
  created_at text not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
create index {schema}_job_pipeline on {schema}_job (pipeline, id);

-- The greatest ids that were given. Those of a table alone come again when their row is deleted.
create table {schema}_counter (
  id       integer primary key check (id = 1),
  pipeline integer not null default 0,
  "index"  integer not null default 0,
  capture  integer not null default 0,
  job      integer not null default 0
);

-- The changes that a fan-out is made of, until its list is made.
create table {schema}_job_change (
  job     integer not null,
  capture integer not null,
  keys    text not null              -- values, a JSON array
);
create index {schema}_job_change_job on {schema}_job_change (job);

-- The documents of a fan-out that are still to be written, a row a page.
create table {schema}_job_page (
  job    integer not null,
  number integer not null,           -- of its last document; the first of a job is 1
  ids    text not null,              -- a JSON array of texts
  primary key (job, number)
) without rowid;

-- Indices that are not followed because their views cannot be read.
create table {schema}_set_aside (
  index_id integer primary key,
  reason   text not null,
  since    text not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);

-- The routings under which a document may be in Elasticsearch, for indices whose view has a _routing: a document that moves
-- or goes is deleted under each of them.
create table {schema}_route (
  index_id integer not null,
  id       text not null,
  routing  text not null,
  version  integer not null,         -- of the latest write under this routing
  primary key (index_id, id, routing)
) without rowid;

-- Documents that Elasticsearch refused, tried again when they change.
create table {schema}_dead_letter (
  index_id   integer not null,
  id         text not null,
  routing    text not null default '',
  version    integer not null,
  status     integer not null,
  error_type text not null,
  reason     text not null,
  first_at   text not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  last_at    text not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  tries      integer not null default 1,
  primary key (index_id, id, routing)
) without rowid;

-- What the leader says of itself about once a second is not here but in a file beside the database: a commit a second would
-- wake the application's own watchers, and let -wal grow while the application rests.

insert into {schema}_file (id, token, mark) values (1, lower(hex(randomblob(16))), lower(hex(randomblob(16))));
insert into {schema}_outbox_limit (id) values (1);
insert into {schema}_counter (id) values (1);
