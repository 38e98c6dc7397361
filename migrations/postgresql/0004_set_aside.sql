-- An index whose view cannot be read, since what it reads was changed or dropped, or since it fails for a row: the others go
-- on without it, and it is compared with its view when that can be read again.
create table {schema}.set_aside (
  index  integer primary key references {schema}.index on delete cascade,
  reason text not null,
  since  timestamptz not null default clock_timestamp()
);
comment on table {schema}.set_aside is 'indices that are not followed because their views cannot be read';

-- What pg_get_viewdef says, at the last apply, as a checksum: to notice that the view was replaced since.
alter table {schema}.index add column view_text text;
