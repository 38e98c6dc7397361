"""The examples' mappings in a real search engine, the one that LOCKSTEP_TEST_ELASTICSEARCH names, with the documents that
the views give, and the searches that the configurations promise."""
import json
import os
import unittest
import urllib.error
import urllib.request

from configuration_test import configuration
from database import DatabaseTest


class SearchTest(DatabaseTest):
    install = ["fs/postgresql/install.sql", "blog/postgresql/install.sql"]

    @classmethod
    def setUpClass(cls):
        cls.engine = os.environ.get("LOCKSTEP_TEST_ELASTICSEARCH")
        if not cls.engine:
            raise cls.failureException(
                "LOCKSTEP_TEST_ELASTICSEARCH names no server; start one and name it: export LOCKSTEP_TEST_ELASTICSEARCH="
                "$(scripts/engine start elasticsearch-7.10 --data /tmp/lockstep-elasticsearch)")
        super().setUpClass()

    def request(self, method, path, body=None, content_type="application/json"):
        data = body if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
        request = urllib.request.Request(f"{self.engine}/{path}", method=method, data=data, headers={"Content-Type": content_type})
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.loads(response.read() or "{}")
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from None

    def indexed(self, name):
        """An index made from the mapping of a configuration, with the documents of its view."""
        _, configured = configuration(name)
        index = f"lockstep-schema-test-{os.getpid()}-{name}"
        self.request("PUT", index, configured["mapping"])
        self.addCleanup(self.request, "DELETE", index)
        lines = []
        for row in self.sql.rows(f"select * from {configured['view']}"):
            action = {"_id": str(row.pop("_id"))}
            if "_routing" in row:
                action["routing"] = row.pop("_routing")
            lines += [{"index": action}, {key: value for key, value in row.items() if not key.startswith("_")}]
        result = self.request("POST", f"{index}/_bulk?refresh=true", "".join(json.dumps(line) + "\n" for line in lines),
                              "application/x-ndjson")
        self.assertFalse(result["errors"], [item for item in result["items"] if "error" in item["index"]][:3])
        return index

    def search(self, index, query, *fields):
        hits = self.request("POST", f"{index}/_search", {"query": query, "size": 100})["hits"]["hits"]
        return sorted(tuple(hit["_source"][field] for field in fields) for hit in hits)


class Fs(SearchTest):
    def setUp(self):
        self.sql.run("delete from fs.nodes where parent_id is not null")
        self.sql.run("""
            select fs.mkdir('/clinton/projects/elasticsearch'), fs.mkdir('/clinton2'),
              fs.put('/clinton/projects/elasticsearch/README.txt', 'Starting a new Elasticsearch project is easy...'),
              fs.put('/clinton/notes on elasticsearch.txt', 'Elasticsearch, noted'),
              fs.put('/clinton2/README.txt', 'Elasticsearch as well'), fs.put('/top', null)""")

    def test_in_a_directory_and_at_any_depth(self):
        index = self.indexed("fs")
        matches = {"match": {"contents": "elasticsearch"}}

        def within(field, value):
            return self.search(index, {"bool": {"must": matches, "filter": {"term": {field: value}}}}, "path", "name")

        readme = ("/clinton/projects/elasticsearch", "README.txt")
        notes = ("/clinton", "notes on elasticsearch.txt")
        self.assertEqual(within("path", "/clinton/projects/elasticsearch"), [readme])
        self.assertEqual(within("path", "/clinton"), [notes])
        self.assertEqual(within("path.tree", "/clinton"), [notes, readme])
        self.assertEqual(within("path.tree", "/clinton/projects"), [readme])
        self.assertEqual(within("path.tree", "/clin"), [])
        # a match query means the same as a term query: the path isn't taken apart
        self.assertEqual(self.search(index, {"match": {"path.tree": "/clinton/projects"}}, "name"), [("README.txt",), ("elasticsearch",)])

    def test_directories_and_the_root(self):
        index = self.indexed("fs")
        self.assertEqual(self.search(index, {"term": {"path": "/"}}, "name", "kind"),
                         [("clinton", "directory"), ("clinton2", "directory"), ("top", "file")])
        self.assertEqual(self.search(index, {"term": {"kind": "directory"}}, "path", "name"), [
            ("/", "clinton"), ("/", "clinton2"), ("/clinton", "projects"), ("/clinton/projects", "elasticsearch")])

    def test_by_name(self):
        index = self.indexed("fs")
        self.assertEqual(self.search(index, {"term": {"name": "README.txt"}}, "path"),
                         [("/clinton/projects/elasticsearch",), ("/clinton2",)])
        self.assertEqual(self.search(index, {"match": {"name.text": "notes"}}, "path"), [("/clinton",)])

    def test_paths_longer_than_a_term_are_taken(self):
        names = [("%03d" % n) + "ß" * 125 for n in range(140)]  # 253 bytes each, 35,560 in all
        self.sql.run(f"select fs.mkdir('/{'/'.join(names)}')")
        index = self.indexed("fs")
        self.assertEqual(self.search(index, {"term": {"name": names[-1]}}, "path"), [("/" + "/".join(names[:-1]),)])
        upper = "/" + "/".join(names[:60])
        self.assertEqual(self.request("POST", f"{index}/_count", {"query": {"term": {"path.tree": upper}}})["count"], 80)

    def test_by_id(self):
        index = self.indexed("fs-by-id")
        clinton = self.sql.value("select fs.find('/clinton')")
        self.assertEqual(self.search(index, {"term": {"parent_id": clinton}}, "name"), [("notes on elasticsearch.txt",), ("projects",)])
        self.assertEqual(self.search(index, {"bool": {"must": {"match": {"contents": "elasticsearch"}},
                                                      "filter": {"term": {"ancestors": str(clinton)}}}}, "name"),
                         [("README.txt",), ("notes on elasticsearch.txt",)])


class Blog(SearchTest):
    def setUp(self):
        self.sql.run("truncate blog.users, blog.blogposts")
        self.sql.run("""
            insert into blog.users (id, name, email, dob) values
              (1, 'John Smith', 'john@smith.com', '1970-10-24'), (3, 'Alice John', 'alice@john.com', '1979-01-04'), (5, 'Zoe', null, null);
            insert into blog.blogposts (id, title, body, user_id) values
              (2, 'Relationships', 'It''s complicated...', 1), (4, 'Relationships are cool', 'It''s not complicated at all...', 3),
              (6, 'Something else', 'entirely', 1), (8, 'Relationships', 'by nobody', null)""")

    def test_posts_collapsed_by_user(self):
        index = self.indexed("blog")
        result = self.request("POST", f"{index}/_search", {
            "size": 0,
            "query": {"bool": {"must": [{"match": {"title": "relationships"}}, {"match": {"user.name": "John"}}]}},
            "aggs": {"users": {"terms": {"field": "user.name.raw", "order": {"top_score": "desc"}},
                               "aggs": {"top_score": {"max": {"script": "_score"}},
                                        "blogposts": {"top_hits": {"_source": "title", "size": 5}}}}}})
        self.assertEqual([(bucket["key"], [hit["_source"] for hit in bucket["blogposts"]["hits"]["hits"]])
                          for bucket in result["aggregations"]["users"]["buckets"]],
                         [("John Smith", [{"title": "Relationships"}]), ("Alice John", [{"title": "Relationships are cool"}])])
        self.assertEqual(self.search(index, {"term": {"user.id": 3}}, "title"), [("Relationships are cool",)])

    def test_users_with_posts_nested(self):
        index = self.indexed("blog-nested")
        query = {"bool": {"must": [{"match": {"posts.title": "relationships"}}, {"match": {"posts.body": "entirely"}}]}}
        self.assertEqual(self.search(index, {"nested": {"path": "posts", "query": query}}, "name"), [])
        query["bool"]["must"].pop()
        self.assertEqual(self.search(index, {"nested": {"path": "posts", "query": query, "inner_hits": {}}}, "name"),
                         [("Alice John",), ("John Smith",)])
        self.assertEqual(self.search(index, {"match_all": {}}, "name"), [("Alice John",), ("John Smith",), ("Zoe",)])

    def test_users_and_posts_joined(self):
        index = self.indexed("blog-join")
        self.assertEqual(self.search(index, {"has_parent": {"parent_type": "user", "query": {"match": {"name": "Smith"}}}}, "title"),
                         [("Relationships",), ("Something else",)])
        self.assertEqual(self.search(index, {"has_child": {"type": "post", "query": {"match": {"title": "relationships"}}}}, "name"),
                         [("Alice John",), ("John Smith",)])
        self.assertEqual(self.search(index, {"parent_id": {"type": "post", "id": "user-3"}}, "title"), [("Relationships are cool",)])
        self.assertEqual(self.search(index, {"parent_id": {"type": "post", "id": "nobody"}}, "title", "body"),
                         [("Relationships", "by nobody")])


if __name__ == "__main__":
    unittest.main()
