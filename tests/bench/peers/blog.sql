-- The blog that every tool replicates: a document is {id, title (6 words), body (40 words), created_at, user: {id, name}};
-- every twentieth post is of user 1. psql -v posts=N -v users=N.
create schema blog;
create table blog.users (id bigint primary key, name text not null);
create table blog.posts (id bigint primary key, user_id bigint not null references blog.users, title text not null,
                         body text not null, created_at timestamptz not null);
create index on blog.posts (user_id);
create view blog.documents as
  select p.id as _id, p.user_id as _user_id, p.id, p.title, p.body, p.created_at,
         json_build_object('id', u.id, 'name', u.name) as "user"
  from blog.posts p join blog.users u on u.id = p.user_id;
-- The same as text, for what is no view's document: ready-made bulk requests, and the program around Debezium.
create view blog.rendered as
  select v.id, row_to_json(d)::text as json
  from blog.documents v, lateral (select v.id, v.title, v.body, v.created_at, v."user") d;
create function blog.words(seed bigint, n integer) returns text language sql immutable as
  $$select string_agg('word' || hashint8(seed * 64 + i) % 5000, ' ') from generate_series(1, n) i$$;
insert into blog.users select i, 'user ' || i from generate_series(1, :users) i;
insert into blog.posts
  select i, case when i % 20 = 0 then 1 else 2 + i % (:users - 1) end, blog.words(i, 6), blog.words(-i, 40),
         timestamptz '2020-01-01' + i * interval '1 minute'
  from generate_series(1, :posts) i;
vacuum analyze;
