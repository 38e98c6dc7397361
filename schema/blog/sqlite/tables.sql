-- users and blogposts: people, and what they wrote, for SQLite 3.38 and newer; schema/blog/postgresql/tables.sql says more.
-- Every connection that writes must switch foreign keys on: pragma foreign_keys = on;

create table if not exists users (
  id    integer primary key autoincrement,
  name  text not null check (name <> ''),
  email text unique,
  dob   text
) strict;

create table if not exists blogposts (
  id      integer primary key autoincrement,
  title   text not null,
  body    text not null default '',
  user_id integer references users (id) on delete set null
) strict;

create index if not exists blogposts_user_id on blogposts (user_id);
create index if not exists users_document_id on users ('user-' || cast(id as text));
create index if not exists blogposts_document_id on blogposts ('post-' || cast(id as text));
