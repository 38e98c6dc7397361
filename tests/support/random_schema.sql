-- The database of the randomised test: users write posts, posts have comments and tags, events are partitioned; keys are
-- integer, bigint, uuid, text and composite. Every row has a revision from one sequence, which grows with each change of
-- the row, so that a document's content says how new the rows are that it was made of.
create schema app;
create schema search;
create sequence app.revision cache 1;

create table app.users (
  id       integer primary key,
  name     text not null,
  bio      text,              -- large now and then, stored out of line
  revision bigint not null default nextval('app.revision')
);

create table app.posts (
  id        bigint primary key,
  user_id   integer references app.users on delete set null on update cascade,
  title     text not null,
  published boolean not null default true,
  views     integer not null default 0,  -- in no document
  revision  bigint not null default nextval('app.revision')
);
create index on app.posts (user_id);

create table app.comments (
  id        uuid primary key,
  post_id   bigint not null references app.posts on delete cascade on update cascade,
  author_id integer references app.users on delete cascade on update cascade,
  body      text not null,
  revision  bigint not null default nextval('app.revision')
);
create index on app.comments (post_id);
create index on app.comments (author_id);

create table app.tags (
  name     text primary key,
  label    text not null,
  revision bigint not null default nextval('app.revision')
);

create table app.post_tags (
  post_id bigint references app.posts on delete cascade on update cascade,
  tag     text references app.tags on delete cascade on update cascade,
  primary key (post_id, tag)
);
create index on app.post_tags (tag);

-- Small, and truncated now and then.
create table app.notices (
  id      integer primary key,
  post_id bigint not null,
  text    text not null
);
create index on app.notices (post_id);

create table app.events (
  kind     text not null,
  id       integer not null,
  tenant   text not null,      -- the routing
  payload  json,
  revision bigint not null default nextval('app.revision'),
  primary key (kind, id)
) partition by list (kind);
create table app.events_click partition of app.events for values in ('click');
create table app.events_view partition of app.events for values in ('view');
create table app.events_other partition of app.events default;
-- What the view makes of it is its _id.
create index on app.events ((kind || '/' || id::text));

create view search.users as
select u.id as _id, u.name, length(u.bio) as bio_length, md5(u.bio) as bio_hash,
       (select count(*) from app.posts p where p.user_id = u.id) as posts,
       json_build_object('user:' || u.id, u.revision) as revisions
from app.users u;

create view search.posts as
select p.id as _id, p.user_id as _user_id, p.title, p.published,
       case when u.id is not null then json_build_object('id', u.id, 'name', u.name) end as "user",
       (select json_agg(json_build_object('id', c.id, 'body', c.body) order by c.id)
        from app.comments c where c.post_id = p.id) as comments,
       (select json_agg(json_build_object('name', t.name, 'label', t.label) order by t.name)
        from app.post_tags pt join app.tags t on t.name = pt.tag where pt.post_id = p.id) as tags,
       (select array_agg(n.text order by n.id) from app.notices n where n.post_id = p.id) as notices,
       (select json_object_agg(r.row, r.revision order by r.row)
        from (select 'post:' || p.id as row, p.revision
              union all select 'user:' || u.id, u.revision where u.id is not null
              union all select 'comment:' || c.id, c.revision from app.comments c where c.post_id = p.id
              union all select 'tag:' || t.name, t.revision
                        from app.post_tags pt join app.tags t on t.name = pt.tag where pt.post_id = p.id) r) as revisions
from app.posts p
left join app.users u on u.id = p.user_id;

-- Rows leave it: by themselves, and when their post is hidden.
create view search.comments as
select c.id as _id, c.body, p.title, u.name as author,
       json_build_object('comment:' || c.id, c.revision, 'post:' || p.id, p.revision) as revisions
from app.comments c
join app.posts p on p.id = c.post_id
left join app.users u on u.id = c.author_id
where p.published and c.body not like 'hidden%';

create view search.tags as
select t.name as _id, t.label, (select count(*) from app.post_tags pt where pt.tag = t.name) as posts,
       json_build_object('tag:' || t.name, t.revision) as revisions
from app.tags t;

create view search.events as
select e.kind || '/' || e.id as _id, e.tenant as _routing, e.kind, e.payload, e.tenant,
       json_build_object('event', e.revision) as revisions
from app.events e;

insert into app.users select i, 'user ' || i, case when i % 10 = 0 then repeat(md5(i::text), 400) end
from generate_series(1, 200) i;
insert into app.posts select i, case when i % 20 = 0 then null when i <= 1200 then 1 else 1 + i % 200 end, 'post ' || i
from generate_series(1, 4000) i;
insert into app.comments
select md5('comment ' || i)::uuid, 1 + i * 7 % 4000, 1 + i % 200, 'comment ' || i from generate_series(1, 6000) i;
insert into app.tags select 'tag ' || i, 'label ' || i from generate_series(1, 60) i;
insert into app.post_tags select p, 'tag ' || (1 + (p * 3 + k * 11) % 60) from generate_series(1, 4000) p, generate_series(1, 2) k;
insert into app.notices select i, i, 'notice ' || i from generate_series(1, 50) i;
insert into app.events
select (array['click', 'view', 'buy'])[1 + i % 3], i, 'tenant ' || i % 7, json_build_object('n', i) from generate_series(1, 6000) i;
