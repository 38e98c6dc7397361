-- documents, users_with_posts, users_and_posts: the search documents of the blog, column by column those of
-- schema/blog/postgresql, where each has its explanation.

drop view if exists documents;
create view documents as
select p.id as _id, p.user_id as _user_id, p.title, p.body,
       case when u.id is not null then json_object('id', u.id, 'name', u.name) end as user
from blogposts p
left join users u on u.id = p.user_id;

drop view if exists users_with_posts;
create view users_with_posts as
select u.id as _id, u.name,
       (select json_group_array(json_object('id', p.id, 'title', p.title, 'body', p.body))
        from (select id, title, body from blogposts where user_id = u.id order by id) p) as posts
from users u;

-- For small databases: SQLite doesn't push a list of ids down into a "union all" and reads both tables for each.
drop view if exists users_and_posts;
create view users_and_posts as
select 'user-' || cast(u.id as text) as _id,
       'user-' || cast(u.id as text) as _routing,
       u.name, null as title, null as body,
       json_object('name', 'user') as relation
from users u
union all
select 'post-' || cast(p.id as text),
       coalesce('user-' || cast(p.user_id as text), 'post-' || cast(p.id as text)),
       null, p.title, p.body,
       json_object('name', 'post', 'parent', coalesce('user-' || cast(p.user_id as text), 'nobody'))
from blogposts p;
