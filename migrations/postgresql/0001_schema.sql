-- Lockstep's own schema. `{schema}` stands for the configured schema's quoted name, which is also the search_path while a
-- migration runs, for names inside of texts.
--
-- One pipeline is one configuration file; several may share a schema. The outbox says which rows changed, the
-- checkpoint up to where Elasticsearch has acknowledged them; both live in the same database, because only then
-- do they go back together when the database does.

create table {schema}.pipeline (
  id        integer generated always as identity primary key,
  name      text not null unique,
  identity  uuid not null default gen_random_uuid(),  -- carried by every index in its mapping's _meta
  applied_at timestamptz
);
comment on table {schema}.pipeline is 'one row a configuration file';

-- The snapshot up to which everything is in Elasticsearch, and how far inside the next one.
-- prev: everything visible in it has been acknowledged. cur: the batch being replayed, null when there is none;
-- (last_txid, last_id): the last row of that batch that has been acknowledged. See ordering in docs/concepts.md.
create table {schema}.checkpoint (
  pipeline   integer primary key references {schema}.pipeline on delete cascade,
  prev       pg_snapshot not null,
  cur        pg_snapshot,
  last_txid  xid8 not null default '0',
  last_id    bigint not null default 0,
  epoch      bigint not null default 0,
  written_at timestamptz not null default clock_timestamp()
) with (fillfactor = 10);
comment on table {schema}.checkpoint is 'what Elasticsearch has acknowledged';

-- Which rows changed. Written by the generated triggers in the writer's transaction, never updated, emptied by
-- truncating the leaf that writers left ten minutes ago.
-- keys: the values that a capture (a table and an expression) had in the changed rows, old and new, as text;
-- null: any row may have changed (truncate).
create sequence {schema}.outbox_id cache 1;
create table {schema}.outbox (
  id      bigint      not null default nextval('outbox_id'),
  txid    xid8        not null default pg_current_xact_id(),
  slot    smallint    not null default (extract(epoch from now())::bigint / 600 % 3),
  capture integer     not null,
  keys    text[],
  at      timestamptz not null default clock_timestamp()
) partition by list (slot);
create table {schema}.outbox_0 partition of {schema}.outbox for values in (0);
create table {schema}.outbox_1 partition of {schema}.outbox for values in (1);
create table {schema}.outbox_2 partition of {schema}.outbox for values in (2);
-- The only index: a unique one on id would lure the planner into walking the whole outbox.
create index outbox_txid_id on {schema}.outbox (txid, id);
comment on table {schema}.outbox is 'which rows changed, by transaction';

-- An index of Elasticsearch that follows a view.
create table {schema}.index (
  id         integer generated always as identity primary key,
  pipeline   integer not null references {schema}.pipeline on delete cascade,
  alias      text not null,
  view       text not null,          -- quoted, schema-qualified
  id_type    text not null,          -- type of the view's _id as SQL writes it
  routed     boolean not null,       -- the view has a _routing
  fields     text[] not null,        -- the document's fields in the view's order
  definition text not null,          -- checksum of the view's definition and columns
  unique (pipeline, alias)
);

-- Which expression of a table's rows goes into the outbox when they change.
create table {schema}.capture (
  id         integer generated always as identity primary key,
  pipeline   integer not null references {schema}.pipeline on delete cascade,
  relation   text not null,          -- quoted, schema-qualified
  expression text not null,          -- SQL over one row of it
  value_type text not null,          -- type of the expression as SQL writes it
  columns    text[]                  -- an update counts only if one of these changed; null: any that a view reads
);

-- How a capture's values lead to documents.
create table {schema}.track (
  id       integer generated always as identity primary key,
  index    integer not null references {schema}.index on delete cascade,
  capture  integer not null references {schema}.capture on delete cascade,
  resolver text                      -- function (value_type[]) returns setof text; null: the values are the _ids
);

-- Work beside the tail: backfills, comparisons and changes of more documents than one batch should hold.
create table {schema}.job (
  id         bigint generated always as identity primary key,
  pipeline   integer not null references {schema}.pipeline on delete cascade,
  index      integer not null references {schema}.index on delete cascade,
  kind       text not null check (kind in ('backfill', 'fan_out', 'sweep')),
  position   text,                   -- backfill: the last _id done; fan_out: the last job_document.number done
  done       bigint not null default 0,
  total      bigint,                 -- an estimate for a backfill; null: not known
  reason     text not null,          -- in words, for `status`
  created_at timestamptz not null default clock_timestamp()
);
create index job_pipeline on {schema}.job (pipeline, id);

create table {schema}.job_document (
  job    bigint not null references {schema}.job on delete cascade,
  number bigint not null,
  id     text not null,
  primary key (job, number)
);

-- The routings under which a document may be in Elasticsearch, for indices whose view has a _routing: a document
-- that moves or goes is deleted under each of them.
create table {schema}.route (
  index   integer not null references {schema}.index on delete cascade,
  id      text not null,
  routing text not null,
  version bigint not null,           -- of the latest write under this routing
  primary key (index, id, routing)
);

create table {schema}.dead_letter (
  index      integer not null references {schema}.index on delete cascade,
  id         text not null,
  routing    text not null default '',
  version    bigint not null,
  status     integer not null,
  error_type text not null,
  reason     text not null,
  first_at   timestamptz not null default clock_timestamp(),
  last_at    timestamptz not null default clock_timestamp(),
  tries      integer not null default 1,
  primary key (index, id, routing)
);
comment on table {schema}.dead_letter is 'documents that Elasticsearch refused, tried again when they change';

-- What the leader says of itself, about once a second, for `status`.
create table {schema}.pipeline_status (
  pipeline   integer primary key references {schema}.pipeline on delete cascade,
  state      text not null,
  reason     text not null default '',
  host       text not null,
  pid        integer not null,
  started_at timestamptz not null,
  beat_at    timestamptz not null default clock_timestamp(),
  document   jsonb not null default '{}'   -- counters by index
) with (fillfactor = 20);
