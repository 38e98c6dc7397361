-- blog.users_and_posts: users and posts as documents of their own in one index, held together by a join field: posts are the
-- children of their users (config/blog-join.toml). A new name, like a new post, changes one document.
--
--   _id       "user-1", "post-7": the kind is in the id, so that the ids of the two tables can't meet
--   _routing  that of the user, for the user and for the posts: parent and children must be in one shard
--   name      the user's, null for a post
--   title, body  the post's, null for a user
--   relation  the join field: {"name": "user"}, or {"name": "post", "parent": "user-1"}. Elasticsearch refuses a child
--             without a parent, and null, but not a parent that isn't there: that of a post without an author is "nobody".
--             Such a post is found like every other, only not through a user.
--
-- tables.sql has the indexes that find rows by these ids. A post that gets another author changes its routing.
create or replace view blog.users_and_posts as
select 'user-' || cast(u.id as text) as _id,
       'user-' || cast(u.id as text) as _routing,
       u.name, null as title, null as body,
       json_build_object('name', 'user') as relation
from blog.users u
union all
select 'post-' || cast(p.id as text),
       coalesce('user-' || cast(p.user_id as text), 'post-' || cast(p.id as text)),
       null, p.title, p.body,
       json_build_object('name', 'post', 'parent', coalesce('user-' || cast(p.user_id as text), 'nobody'))
from blog.blogposts p;
