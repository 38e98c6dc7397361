"""Amazon OpenSearch Service's side of AWS Signature Version 4, from AWS's published algorithm: a server that recomputes the signature
of each request, refuses those that are wrong, and passes the others on to a real engine. The program works through it."""
import hashlib
import hmac
import http.client
import http.server
import os
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse
import uuid

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("LOCKSTEP_TEST_PROGRAM", os.path.join(ROOT, "build", "lockstep"))
KEY_ID, KEY, TOKEN, REGION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "session/token+with==odd&signs", "eu-central-1"


def encode(text, safe=""):
    return urllib.parse.quote(text, safe=safe + "-_.~")


def signature(method, target, headers, names, key, scope):
    """Of a request whose headers, by lower-case name, are signed under `names`; S3 alone encodes the path once."""
    date, region, service, _ = scope.split("/")
    path, _, query = target.partition("?")
    pairs = sorted((encode(urllib.parse.unquote(name)), encode(urllib.parse.unquote(value)))
                   for name, _, value in (part.partition("=") for part in query.split("&") if part))
    canonical = "\n".join([
        method, path if service == "s3" else encode(path, "/"), "&".join(f"{name}={value}" for name, value in pairs),
        "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in names), ";".join(names), headers["x-amz-content-sha256"]])
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()])
    digest = ("AWS4" + key).encode()
    for part in (date, region, service, "aws4_request", text):
        digest = hmac.new(digest, part.encode(), hashlib.sha256).digest()
    return digest.hex()


def fault_of(method, target, headers, body):
    """What is wrong with the request's signature; None if nothing is."""
    algorithm, _, rest = headers.get("authorization", "").partition(" ")
    if algorithm != "AWS4-HMAC-SHA256":
        return "it is not signed"
    fields = dict(part.strip().split("=", 1) for part in rest.split(","))
    key_id, _, scope = fields["Credential"].partition("/")
    names = fields["SignedHeaders"].split(";")
    if key_id != KEY_ID or scope.split("/")[1:] != [REGION, "es", "aws4_request"]:
        return f"it is signed for {fields['Credential']}"
    if names != sorted(names) or not {"host", "x-amz-date"} | {name for name in headers if name.startswith("x-amz-")} <= set(names):
        return f"it signs {names} only"
    if abs(time.time() - time.mktime(time.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ")) + time.timezone) > 300:
        return "it is old"
    if headers.get("x-amz-security-token") != TOKEN:
        return "its session token is another one"
    if headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
        return "its body is another one"
    if fields["Signature"] != signature(method, target, headers, names, KEY, scope):
        return "its signature does not match"
    return None


class VerifyingServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, engine):
        super().__init__(("127.0.0.1", 0), VerifyingHandler)
        self.engine = urllib.parse.urlsplit(engine).netloc
        self.passed, self.faults = [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # a client that hung up

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class VerifyingHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        fault = fault_of(self.command, self.path, headers, body)
        if fault:
            self.server.faults.append(f"{self.command} {self.path}: {fault}")
            return self.reply(403, b'{"message": "The request signature we calculated does not match the signature you provided."}')
        self.server.passed.append(self.path)
        engine = http.client.HTTPConnection(self.server.engine, timeout=60)
        engine.request(self.command, self.path, body or None,
                       {name: value for name, value in self.headers.items() if name.lower() in ("content-type", "content-encoding")})
        answer = engine.getresponse()
        self.reply(answer.status, answer.read())
        engine.close()

    def reply(self, status, content):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer


class VerifierTest(unittest.TestCase):
    """The two examples with an empty body in AWS's own documentation."""

    def test_it_finds_what_aws_has_published(self):
        empty = hashlib.sha256(b"").hexdigest()
        headers = {"host": "examplebucket.s3.amazonaws.com", "x-amz-content-sha256": empty, "x-amz-date": "20130524T000000Z"}
        for target, published in [("/?lifecycle", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
                                  ("/?max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")]:
            found = signature("GET", target, headers, sorted(headers), "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                              "20130524/us-east-1/s3/aws4_request")
            self.assertEqual(found, published, target)


class SignedRequestsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        engine = os.environ.get("LOCKSTEP_TEST_ELASTICSEARCH")
        if not engine:
            raise cls.failureException("LOCKSTEP_TEST_ELASTICSEARCH names no server; start one and name it: export "
                                       "LOCKSTEP_TEST_ELASTICSEARCH=$(scripts/engine start elasticsearch-7.10 --data /tmp/lockstep-es)")
        cls.server = VerifyingServer(engine)
        cls.alias = f"aws-{uuid.uuid4().hex}"

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.database = sqlite3.connect(os.path.join(self.folder, "shop.db"), isolation_level=None)
        self.addCleanup(self.database.close)
        self.database.executescript("""
            pragma journal_mode = wal;
            create table things (id text primary key, name text);
            insert into things values ('a/b', 'one'), ('x*y,z', 'two'), ('50% + ä', 'three'), ('=&?', 'four');
            create view documents as select id as _id, name from things;
        """)
        self.write("key", KEY)
        self.write("mapping.json", '{"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {}}')
        self.config = self.write("lockstep.toml", f"""
            [source]
            url = "sqlite:shop.db"
            [elasticsearch]
            urls = ["{self.server.url}"]
            aws_region = "{REGION}"
            aws_access_key_id = "{KEY_ID}"
            aws_secret_access_key_file = "key"
            aws_session_token_env = "TEST_SESSION_TOKEN"
            compression = "gzip"
            [tree]
            index = "{self.alias}-tree"
            [locks]
            index = "{self.alias}-locks"
            lease = "1m"
            [[index]]
            alias = "{self.alias}"
            mapping = "mapping.json"
            view = "documents"
            [[index.track]]
            table = "things"
            """)

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        return path

    def lockstep(self, *arguments, code=0, text=None):
        done = subprocess.run([PROGRAM, *arguments, "-c", self.config], input=text, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "TEST_SESSION_TOKEN": TOKEN})
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}; {self.server.faults}")
        return done.stdout + done.stderr

    def test_every_request_of_a_pipeline_is_signed_as_aws_wants_it(self):
        self.addCleanup(self.lockstep, "remove", "--yes", "--indices")
        self.lockstep("check")
        self.lockstep("apply", "--yes")
        self.lockstep("run", "--until-caught-up")
        self.database.execute("update things set name = 'other'")
        self.lockstep("run", "--until-caught-up")
        self.lockstep("verify")
        self.lockstep("tree", "put", "/a b*c,d/50% + ä/=&?", text="contents")
        self.assertIn("=&?", self.lockstep("tree", "ls", "/a b*c,d/50% + ä"))
        self.lockstep("tree", "rm", "/a b*c,d/50% + ä/=&?")
        self.assertEqual(self.server.faults, [])

    def test_names_with_odd_characters_are_signed_as_aws_wants_it(self):
        self.write("mapping.json", '{"settings": {"index.default_pipeline": "a/b*c,d%2F50%+ä"}, "mappings": {}}')
        self.assertIn("ingest pipeline", self.lockstep("check", code=1))
        self.assertEqual(self.server.faults, [])
        self.assertIn("/_ingest/pipeline/a%2Fb%2Ac%2Cd%252F50%25%2B%C3%A4", [path.partition("?")[0] for path in self.server.passed])
        unsorted = [path for path in self.server.passed if "-*?flat_settings=true&expand_wildcards=all" in path]
        self.assertTrue(unsorted, "no request had a star in its path, and parameters out of order")

    def test_a_wrong_key_is_refused_and_named(self):
        self.write("key", "another key")
        said = self.lockstep("check", code=1)
        self.assertIn("403", said)
        self.assertIn("signature", said)
        self.assertTrue(self.server.faults)
        self.server.faults.clear()


if __name__ == "__main__":
    unittest.main()
