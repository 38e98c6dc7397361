-- blog.users_with_posts: a search document for each user, with their posts inside as nested objects
-- (config/blog-nested.toml).
--
--   _id    blog.users.id
--   name
--   posts  [{id, title, body}, …] by id; [] for a user who wrote nothing
--
-- Posts without an author are in no document. A change of one post writes its user's whole document again, and
-- Elasticsearch takes 10,000 nested objects a document at most (index.mapping.nested_objects.limit): for users who write
-- little.
create or replace view blog.users_with_posts as
select u.id as _id, u.name, written.posts
from blog.users u
cross join lateral (
  select coalesce(json_agg(json_build_object('id', p.id, 'title', p.title, 'body', p.body) order by p.id), '[]') as posts
  from blog.blogposts p
  where p.user_id = u.id
) written;
