"""The blog's three views against a naive reading of the tables, how they are planned, and what they are known to read."""
import os
import unittest

from database import SCHEMA
from views import ViewTest

POSTS = ["blog.blogposts.body", "blog.blogposts.id", "blog.blogposts.title", "blog.blogposts.user_id"]
USERS = ["blog.users.id", "blog.users.name"]


class BlogViews(ViewTest):
    install = ["blog/postgresql/install.sql"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.psql("--set=users=200", "--set=posts=3000", "--file", os.path.join(SCHEMA, "blog/postgresql/sample.sql"))
        cls.sql.run("""insert into blog.users (name) values ('O''Neil "the \\ pen"'), ('who wrote nothing');
            insert into blog.blogposts (title, body, user_id)
              select E'new\\nline', 'ünï', id from blog.users where name like 'O%Neil%';
            insert into blog.blogposts (title) values ('no body, no author')""")
        cls.sql.run("vacuum analyze blog.users, blog.blogposts")

    def users(self):
        return {row["id"]: row for row in self.sql.rows("select * from blog.users order by id")}

    def posts(self):
        return self.sql.rows("select * from blog.blogposts order by id")

    def test_the_sample_has_what_it_promises_and_can_be_added_to(self):
        self.assertEqual(len(self.users()), 202)
        authors = [post["user_id"] for post in self.posts()]
        self.assertEqual(len(authors), 3002)
        self.assertEqual(authors.count(None), 61)
        self.assertGreaterEqual(authors.count(1), 300)
        self.assertEqual(self.users()[1]["name"], "John Smith")
        self.sql.run("begin")
        self.sql.run("insert into blog.users (name) values ('next')")  # the ids go on behind the sample's
        self.sql.run("rollback")

    def test_documents(self):
        users = self.users()
        expected = [{"_id": p["id"], "_user_id": p["user_id"], "title": p["title"], "body": p["body"],
                     "user": {"id": p["user_id"], "name": users[p["user_id"]]["name"]} if p["user_id"] else None}
                    for p in self.posts()]
        self.assertEqual(self.sql.rows("select * from blog.documents order by _id"), expected)

    def test_users_with_posts(self):
        posts = self.posts()
        expected = [{"_id": u["id"], "name": u["name"],
                     "posts": [{"id": p["id"], "title": p["title"], "body": p["body"]} for p in posts if p["user_id"] == u["id"]]}
                    for u in self.users().values()]
        self.assertIn([], [user["posts"] for user in expected])
        self.assertEqual(self.sql.rows("select * from blog.users_with_posts order by _id"), expected)

    def test_users_and_posts(self):
        def post(p):
            user = p["user_id"] and f"user-{p['user_id']}"
            return {"_id": f"post-{p['id']}", "_routing": user or f"post-{p['id']}", "name": None, "title": p["title"],
                    "body": p["body"], "relation": {"name": "post", "parent": user or "nobody"}}

        expected = [{"_id": f"user-{u['id']}", "_routing": f"user-{u['id']}", "name": u["name"], "title": None, "body": None,
                     "relation": {"name": "user"}} for u in self.users().values()] + [post(p) for p in self.posts()]
        self.assertEqual(sorted(self.sql.rows("select * from blog.users_and_posts"), key=lambda d: d["_id"]),
                         sorted(expected, key=lambda d: d["_id"]))

    def test_a_deleted_user_leaves_their_posts_without_an_author(self):
        self.sql.run("begin")
        self.sql.run("delete from blog.users where id = 1")
        left = self.sql.rows("select _user_id, \"user\" from blog.documents where title in "
                             "(select title from blog.blogposts where user_id is null)")
        self.sql.run("rollback")
        self.assertGreater(len(left), 300)
        self.assertIn({"_user_id": None, "user": None}, left)

    def test_pages_and_chunks_are_looked_up(self):
        self.assert_looks_up("select * from blog.documents where _id > 1500 order by _id limit 100",
                             ["blogposts_pkey", "users_pkey"], 100)
        self.assert_looks_up("select * from blog.documents where _id = any('{7,8}')", ["blogposts_pkey", "users_pkey"], 2)
        self.assert_looks_up("select * from blog.documents where _user_id = any('{2}')", ["blogposts_user_id", "users_pkey"], 100)
        self.assert_looks_up("select * from blog.users_with_posts where _id > 100 order by _id limit 10",
                             ["users_pkey", "blogposts_user_id"], 300)
        self.assert_looks_up("select * from blog.users_with_posts where _id = any('{1,2}')",
                             ["users_pkey", "blogposts_user_id"], 400)
        both = ["users_document_id", "blogposts_document_id"]
        self.assert_looks_up("select * from blog.users_and_posts where _id > 'post-5' order by _id limit 100", both, 101)
        self.assert_looks_up("select * from blog.users_and_posts where _id = any('{post-1,user-1}')", both, 2)

    def test_what_the_views_read_is_known_to_the_column(self):
        for view in ["blog.documents", "blog.users_with_posts", "blog.users_and_posts"]:
            self.assert_reads_exactly(view, POSTS + USERS)


if __name__ == "__main__":
    unittest.main()
