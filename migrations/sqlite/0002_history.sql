-- What shows that the file went back to an older state, although it then passed the last row that was read of it.

-- Another random number with each save; the leader knows the last one.
alter table {schema}_checkpoint add column saved integer not null default 0;

-- Numbers that were `saved` once. An index of Elasticsearch carries the last one that its leader has noted there: a file that
-- does not have it is older.
create table {schema}_mark (
  pipeline integer not null,
  number   integer not null,         -- in the order in which they were left
  mark     integer not null,
  primary key (pipeline, number)
) without rowid;
