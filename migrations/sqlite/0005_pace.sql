-- How fast a reindex may be, and how fast the last job over a whole index was.
alter table {schema}_reindex
  add column max_rate integer;         -- documents a second to write and compare at most; null: no limit

create table {schema}_pace (
  index_id     integer not null,
  kind         text not null,          -- backfill or comparison
  documents    integer not null,
  milliseconds integer not null,
  primary key (index_id, kind)
);
