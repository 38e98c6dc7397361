-- blog.documents: a search document for each post, with its author inside (config/blog.toml).
--
--   _id       blog.blogposts.id
--   _user_id  blog.blogposts.user_id, by which the posts of a renamed user are found; not in the document
--   title, body
--   user      {id, name}, or null for a post without an author
--
-- Email and date of birth are not searched, so they are not here, and changing them changes no document. That is why the
-- object is made from the two columns and not from the row u: a view that takes the whole row depends on every column.
create or replace view blog.documents as
select p.id as _id, p.user_id as _user_id, p.title, p.body,
       case when u.id is not null then json_build_object('id', u.id, 'name', u.name) end as "user"
from blog.blogposts p
left join blog.users u on u.id = p.user_id;
